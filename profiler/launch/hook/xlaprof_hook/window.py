"""Decides when the profile begins and ends, so that it shows steady steps and stays small.

Without --steps, it begins once the program has ended some steps and compiles no more, or has been at work for long. A program
that has ended no step has to be quiet for some time instead."""
import time

_FIRST_STEPS = 4  # steps that a clean program may need to compile everything
_QUIET_STEPS = 3  # steps without a compilation
_QUIET_S = 5.0  # time without a compilation, if no step has ended
_PATIENCE_STEPS, _PATIENCE_S = 12, 10.0  # after these, a program that goes on compiling is profiled all the same
_PATIENCE_WITHOUT_STEPS_S = 30.0
_FEWEST_STEPS, _SHORTEST_S = 6, 0.5  # the profile has at least both,
_FEWEST_LONG_STEPS = 2  # or this many steps if they are long
_DURATION_S, _LONGEST_S = 3.0, 60.0


class Window:
    def __init__(self, options):
        self.steps = options.get("steps")  # [first, end)
        self.duration_s = options.get("duration_s")
        self.begun_s = None  # when the program began to work
        self.compilations = 0
        self.compiled_s = 0.0  # when the newest compilation was noticed
        self.compiled_step = 0
        self.started_s = None
        self.started_step = None
        self.why = None

    def is_due(self, steps, compilations, is_compiling):
        """Returns whether the profile begins now. `steps` is None if the program has ended no step. `is_compiling` is a function."""
        now_s = time.monotonic()
        if self.begun_s is None:
            self.begun_s = now_s
        if compilations != self.compilations:
            self.compilations, self.compiled_s, self.compiled_step = compilations, now_s, steps or 0
        if self.steps:
            self.why = "asked"
            return steps is not None and steps >= self.steps[0]
        if steps is None:
            if is_compiling():
                self.compiled_s = now_s
            self.why = "steady" if now_s - max(self.compiled_s, self.begun_s) >= _QUIET_S else "patience"
            return self.why == "steady" or now_s - self.begun_s >= _PATIENCE_WITHOUT_STEPS_S
        self.why = "steady" if steps >= _FIRST_STEPS and steps - self.compiled_step >= _QUIET_STEPS else "patience"
        return self.why == "steady" or (steps >= _PATIENCE_STEPS and now_s - self.begun_s >= _PATIENCE_S)

    def start(self, steps):
        self.started_s, self.started_step = time.monotonic(), steps

    def is_over(self, steps):
        """Returns whether the profile ends now."""
        lasted_s = time.monotonic() - self.started_s
        if self.steps:
            return steps >= self.steps[1] or lasted_s >= (self.duration_s or _LONGEST_S)
        if self.duration_s:
            return lasted_s >= self.duration_s
        if steps is None or self.started_step is None:
            return lasted_s >= _DURATION_S
        done = steps - self.started_step
        if lasted_s >= _DURATION_S:
            return done >= _FEWEST_LONG_STEPS or lasted_s >= _LONGEST_S
        return done >= _FEWEST_STEPS and lasted_s >= _SHORTEST_S
