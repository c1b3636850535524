"""Times the peers of lazy_bench."""
import statistics
import time


def median_us(times, run, warm_up=20):
    values = []
    for i in range(warm_up + times):
        begin = time.perf_counter()
        run()
        values.append((time.perf_counter() - begin) * 1e6)
    return statistics.median(values[warm_up:])
