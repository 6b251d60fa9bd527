"""How long torch takes on a GPU: device events around calls back to back, the median of nine samples of about 4 ms."""
import statistics

SAMPLES, SAMPLE_MS = 9, 4.0


def _sample(call, calls):
    import torch

    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    for _ in range(calls):
        call()
    end.record()
    torch.cuda.synchronize()
    return start.elapsed_time(end) / calls


def microseconds(call):
    """The time of a call; of one that takes more than 20 ms a single one."""
    _sample(call, 1)
    first = _sample(call, 1)
    calls = max(1, min(400, int(SAMPLE_MS / first)))
    samples = SAMPLES if first < 20 else 1
    return statistics.median(_sample(call, calls) for _ in range(samples)) * 1e3
