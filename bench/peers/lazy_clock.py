"""Times the peers of lazy_bench."""
import statistics
import time


OPS = 1000


def record_us_an_op(x, y, evaluate):
    """Returns the time of one operation on x and y whose execution waits until evaluate(result), which is not timed."""
    values = []
    for _ in range(30):
        begin = time.perf_counter()
        z = x
        for _ in range(OPS // 2):
            z = z * y + x
        values.append((time.perf_counter() - begin) * 1e6 / OPS)
        evaluate(z)
    return statistics.median(values)


def median_us(times, run, warm_up=20):
    values = []
    for i in range(warm_up + times):
        begin = time.perf_counter()
        run()
        values.append((time.perf_counter() - begin) * 1e6)
    return statistics.median(values[warm_up:])
