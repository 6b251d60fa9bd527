// What an exchange of 256 bytes between two GPUs of one host takes at least, from host memory to host memory, in the
// ways there are: NCCL waited for by its stream, by words in what it writes, and as a graph; a kernel of one block that
// writes to the other GPU's memory and waits for its word.
// Two processes, a GPU each, as ranks are; medians of 2,000 exchanges, a line of JSON a way.
//
//   nvcc -O2 -arch=sm_90 bench/dist/exchange_floor.cu -o exchange_floor -lnccl && ./exchange_floor

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include <cuda_runtime.h>
#include <nccl.h>

constexpr int BYTES = 256, WORDS = BYTES / 8, ROUNDS = 2000;

// What both processes see before there is anything else between them.
struct Meeting {
    ncclUniqueId id;
    cudaIpcMemHandle_t room[2];
    volatile int arrived[2];
};

#define CHECK(call)                                                                  \
    do {                                                                             \
        auto code = (call);                                                          \
        if (code != 0) {                                                             \
            fprintf(stderr, "%s: error %d\n", #call, static_cast<int>(code));        \
            exit(1);                                                                 \
        }                                                                            \
    } while (0)

static void meet(Meeting* all, int rank) {
    int turn = ++all->arrived[rank];
    while (all->arrived[1 - rank] < turn) {
    }
    __sync_synchronize();
}

// Own frame to the other GPU, the word that says which turn it is last; then both frames to the host in that manner.
__global__ void one_shot(const uint64_t* mine, volatile uint64_t* theirs, volatile uint64_t* here, uint64_t* out,
                         int rank, uint64_t turn) {
    int k = threadIdx.x;
    uint64_t word = mine[k];
    // Two rooms in turn: a rank that is a turn ahead does not write where the other still reads.
    int room = (turn & 1) * (WORDS + 1);
    theirs[room + k] = word;
    __threadfence_system();
    __syncthreads();
    if (k == 0) {
        theirs[room + WORDS] = turn;
        while (here[room + WORDS] != turn) {
        }
    }
    __syncthreads();
    __threadfence_system();
    out[rank * WORDS + k] = word;
    out[(1 - rank) * WORDS + k] = here[room + k];
    __threadfence_system();
    __syncthreads();
    if (k == 0) {
        *reinterpret_cast<volatile uint64_t*>(out + 2 * WORDS) = turn;
    }
}

// A frame's first and last word are the turn. Words of frames that are not those of the turn are counted as wrong: NCCL
// does not write a frame as a whole, so that whoever watches these two words reads some frames too early.
static void time_it(const char* name, Meeting* all, int rank, const std::function<void(uint64_t)>& exchange,
                    uint64_t& turn, const uint64_t* out) {
    std::vector<double> times;
    int wrong = 0;
    for (int round = 0; round < ROUNDS + 200; ++round) {
        meet(all, rank);
        auto start = std::chrono::steady_clock::now();
        exchange(++turn);
        double us = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
        for (int from = 0; from < 2; ++from) {
            for (int k = 0; k < WORDS; ++k) {
                wrong += out[from * WORDS + k] != (k == 0 || k == WORDS - 1 ? turn : turn * 1000 + from);
            }
        }
        if (round >= 200) {
            times.push_back(us);
        }
    }
    std::sort(times.begin(), times.end());
    if (rank == 0) {
        printf("{\"way\": \"%s\", \"bytes\": %d, \"us\": %.2f, \"quartiles\": [%.2f, %.2f], \"wrong\": %d}\n",
               name, BYTES, times[ROUNDS / 2], times[ROUNDS / 4], times[3 * ROUNDS / 4], wrong);
        fflush(stdout);
    }
}

static void run(int rank, Meeting* all) {
    CHECK(cudaSetDevice(rank));
    uint64_t *host, *device, *room, *peer;
    CHECK(cudaHostAlloc(&host, 4 * BYTES, cudaHostAllocMapped | cudaHostAllocPortable));
    CHECK(cudaMalloc(&device, 4 * BYTES));
    CHECK(cudaMalloc(&room, 2 * BYTES + 64));
    CHECK(cudaMemset(room, 0, 2 * BYTES + 64));
    CHECK(cudaDeviceSynchronize());
    memset(host, 0, 4 * BYTES);
    uint64_t *mine = host, *out = host + WORDS;
    cudaStream_t stream;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaIpcGetMemHandle(&all->room[rank], room));
    if (rank == 0) {
        CHECK(ncclGetUniqueId(&all->id));
    }
    meet(all, rank);
    ncclComm_t comm;
    CHECK(ncclCommInitRank(&comm, 2, all->id, rank));
    CHECK(cudaIpcOpenMemHandle(reinterpret_cast<void**>(&peer), all->room[1 - rank], cudaIpcMemLazyEnablePeerAccess));

    uint64_t turn = 0;
    auto fill = [&](uint64_t turn) {
        for (int k = 0; k < WORDS; ++k) {
            mine[k] = k == 0 || k == WORDS - 1 ? turn : turn * 1000 + rank;
        }
        __sync_synchronize();
    };
    auto by_stream = [&] {
        while (cudaStreamQuery(stream) == cudaErrorNotReady) {
        }
    };
    // Both frames begin and end with the turn.
    auto by_words = [&](uint64_t turn) {
        volatile uint64_t* words = out;
        while (words[0] != turn || words[WORDS - 1] != turn || words[WORDS] != turn || words[2 * WORDS - 1] != turn) {
        }
        __sync_synchronize();
    };
    time_it("NCCL, host memory, stream queried", all, rank, [&](uint64_t turn) {
        fill(turn);
        CHECK(ncclAllGather(mine, out, BYTES, ncclUint8, comm, stream));
        by_stream();
    }, turn, out);
    time_it("NCCL, host memory, words watched", all, rank, [&](uint64_t turn) {
        fill(turn);
        CHECK(ncclAllGather(mine, out, BYTES, ncclUint8, comm, stream));
        by_words(turn);
    }, turn, out);
    by_stream();
    time_it("NCCL, device memory, copies in the stream", all, rank, [&](uint64_t turn) {
        fill(turn);
        CHECK(cudaMemcpyAsync(device, mine, BYTES, cudaMemcpyHostToDevice, stream));
        CHECK(ncclAllGather(device, device + WORDS, BYTES, ncclUint8, comm, stream));
        CHECK(cudaMemcpyAsync(out, device + WORDS, 2 * BYTES, cudaMemcpyDeviceToHost, stream));
        by_stream();
    }, turn, out);
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    CHECK(ncclAllGather(mine, out, BYTES, ncclUint8, comm, stream));
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&ready, graph, 0));
    time_it("NCCL, host memory, a graph, words watched", all, rank, [&](uint64_t turn) {
        fill(turn);
        CHECK(cudaGraphLaunch(ready, stream));
        by_words(turn);
    }, turn, out);
    by_stream();
    auto shot = [&](uint64_t turn) { one_shot<<<1, WORDS, 0, stream>>>(mine, peer, room, out, rank, turn); };
    time_it("one kernel over peer access, stream queried", all, rank, [&](uint64_t turn) {
        fill(turn);
        shot(turn);
        by_stream();
    }, turn, out);
    volatile uint64_t* done = out + 2 * WORDS;
    time_it("one kernel over peer access, word watched", all, rank, [&](uint64_t turn) {
        fill(turn);
        shot(turn);
        while (*done != turn) {
        }
        __sync_synchronize();
    }, turn, out);
    CHECK(cudaStreamSynchronize(stream));
    // In the stream, as after a reduction whose partial stays on the device: what a hundred of them take, by events.
    cudaEvent_t begin, end;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    for (int way = 0; way < 2; ++way) {
        std::vector<float> times;
        for (int round = 0; round < 60; ++round) {
            meet(all, rank);
            CHECK(cudaEventRecord(begin, stream));
            for (int k = 0; k < 100; ++k) {
                if (way == 0) {
                    CHECK(ncclAllGather(device, device + WORDS, BYTES, ncclUint8, comm, stream));
                } else {
                    one_shot<<<1, WORDS, 0, stream>>>(device, peer, room, device + WORDS, rank, ++turn);
                }
            }
            CHECK(cudaEventRecord(end, stream));
            CHECK(cudaEventSynchronize(end));
            float ms;
            CHECK(cudaEventElapsedTime(&ms, begin, end));
            times.push_back(10 * ms);
        }
        std::sort(times.begin(), times.end());
        if (rank == 0) {
            const char* name = way == 0 ? "NCCL, device memory" : "one kernel over peer access";
            printf("{\"way\": \"%s, in the stream, one of a hundred\", \"bytes\": %d, \"us\": %.2f}\n", name, BYTES,
                   times[times.size() / 2]);
            fflush(stdout);
        }
    }
    meet(all, rank);
    CHECK(cudaIpcCloseMemHandle(peer));
    meet(all, rank);
    CHECK(ncclCommDestroy(comm));
}

int main() {
    int flags = MAP_SHARED | MAP_ANONYMOUS;
    auto* all = static_cast<Meeting*>(mmap(nullptr, sizeof(Meeting), PROT_READ | PROT_WRITE, flags, -1, 0));
    if (all == MAP_FAILED) {
        return 1;
    }
    memset(all, 0, sizeof(Meeting));
    pid_t child = fork();
    run(child == 0 ? 1 : 0, all);
    int status = 0;
    if (child != 0) {
        waitpid(child, &status, 0);
    }
    return status != 0;
}
