// The interface of C++ in one tour. Every result is exact, so every comparison is with ==.

#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "warpfold.hpp"

#define SAY(condition)                                                                                                 \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            std::fprintf(stderr, "line %d: %s is false\n", __LINE__, #condition);                                      \
            std::exit(1);                                                                                              \
        }                                                                                                              \
    } while (0)

int main() {
    namespace wf = warpfold;

    // Whole arrays: the type of the result is that of the contract.
    std::vector<double> tenths(10, 0.1);
    SAY(wf::sum(tenths) == 1.0);
    std::array<float, 4> x{1, 2, 3, 4};
    SAY(wf::var(x, 1) == 5.0f / 3.0f);
    std::vector<std::int8_t> narrow(1000, 127);
    SAY(wf::sum(narrow) == 127000);
    SAY(wf::mean(narrow) == 127.0);
    std::vector<std::complex<float>> z{{3, 4}, {0, 0}};
    SAY(wf::l2(z) == 5.0f && wf::sum(z) == std::complex<float>(3, 4));
    SAY(wf::dot(x, x) == 30.0f && wf::argmax(x) == 3 && wf::all(x));

    // Choices and parts.
    std::vector<double> gaps{1, NAN, 3};
    SAY(wf::request(WF_MEAN).array(gaps).nan(WF_NAN_IGNORE).value<double>() == 2.0);
    std::vector<float> matrix{1, 2, 3, 4, 5, 6};
    SAY((wf::request(WF_SUM).view(matrix.data(), {2, 3}).axes({1}).run<float>() == std::vector<float>{6, 15}));
    std::vector<std::int64_t> keys{7, -1, 7, 7, -1, 0};
    auto groups = wf::request(WF_SUM).array(matrix).groups(keys).results();
    SAY(groups.size() == 3 && groups.keys<std::int64_t>()[2] == 7 && groups.column<float>("sum")[2] == 8.0f);
    auto stats = wf::request(WF_STATS).array(x).results();
    SAY(stats.column<float>("max")[0] == 4.0f && stats.column<std::uint64_t>("count")[0] == 4);

    // Partials: a thread each, merged in any order, the same bits.
    std::vector<double> terms(100000);
    for (std::size_t k = 0; k < terms.size(); ++k) {
        terms[k] = 1.0 / static_cast<double>(k + 1);
    }
    std::vector<wf::partial<double>> parts(4, wf::partial<double>(WF_SUM));
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < 4; ++t) {
        threads.emplace_back([&, t] {
            std::vector<double> mine(terms.begin() + static_cast<std::ptrdiff_t>(t * 25000),
                                     terms.begin() + static_cast<std::ptrdiff_t>((t + 1) * 25000));
            parts[t].add(mine);
        });
    }
    for (auto &thread : threads) {
        thread.join();
    }
    wf::partial<double> total(WF_SUM);
    for (std::size_t t = 4; t-- > 0;) {
        auto bytes = parts[t].to_bytes();
        total.merge(wf::partial<double>(WF_SUM, bytes.data(), bytes.size()));
    }
    SAY(total.finish<double>() == wf::sum(terms) && total.count() == terms.size());
    SAY(total.finish<double>(WF_MEAN) == wf::mean(terms));

    // Errors are exceptions.
    try {
        wf::sum(std::vector<std::int64_t>{INT64_MAX, 1});
        SAY(false);
    } catch (const wf::error &error) {
        SAY(error.status() == WF_ERROR_OVERFLOW);
        std::printf("an error reads like this: %s\n", error.what());
    }
    std::puts("all results are exact");
}
