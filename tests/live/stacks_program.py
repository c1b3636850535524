"""A job that hangs: a launcher with four ranks. Rank 2 waits for its data, the others wait for rank 2. Each process prints one line of JSON
with its rank and the line in which each of its threads hangs, which it knows itself."""
import concurrent.futures
import inspect
import json
import os
import subprocess
import sys
import threading
import time

RANKS, SLOW = 4, 2


def line_of(function, text):
    """Returns the first line of `function` that contains `text`."""
    lines, first = inspect.getsourcelines(function)
    return first + next(at for at, line in enumerate(lines) if text in line)


def load():
    threading.Event().wait()


def allreduce():
    lock = threading.Lock()
    with lock:
        lock.acquire()  # nobody releases it


def prefetch():
    time.sleep(100_000)


def rank():
    number = int(os.environ["RANK"])
    threading.Thread(target=prefetch, name="prefetch", daemon=True).start()
    pool = concurrent.futures.ThreadPoolExecutor(2)
    for one in [pool.submit(time.sleep, 0.2) for _ in range(2)]:
        one.result()
    hangs = load if number == SLOW else allreduce
    planted = {"MainThread": [hangs.__name__, line_of(hangs, ".wait()" if hangs is load else "lock.acquire()")],
               "prefetch": ["prefetch", line_of(prefetch, "sleep")]}
    # In one write, because all ranks have the same standard output.
    os.write(1, (json.dumps({"rank": number, "pid": os.getpid(), "planted": planted}) + "\n").encode())
    hangs()


def launch():
    ranks = [subprocess.Popen([sys.executable, __file__, "rank"], env={**os.environ, "RANK": str(number)}) for number in range(RANKS)]
    for process in ranks:
        process.wait()


if __name__ == "__main__":
    rank() if sys.argv[1:] == ["rank"] else launch()
