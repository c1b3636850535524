"""The callback for Lightning. It also serves programs that import pytorch_lightning."""
import importlib
import sys

from xlaprof.callbacks._training import Training, place

# Lightning has two packages, whose classes differ. The program's own is the one that it has imported.
_is_older = "pytorch_lightning" in sys.modules and "lightning.pytorch" not in sys.modules
try:
    pytorch = importlib.import_module("pytorch_lightning" if _is_older else "lightning.pytorch")
except ModuleNotFoundError as missing:
    try:
        pytorch = importlib.import_module("pytorch_lightning")
    except ModuleNotFoundError:
        raise missing from None
loggers = importlib.import_module(f"{pytorch.__name__}.loggers")


class _Counters(loggers.Logger):
    """Gets the logged metrics after Lightning has made Python numbers of them for the loggers of the user."""

    name, version = "xlaprof", ""

    def __init__(self, training):
        super().__init__()
        self._training = training

    def log_metrics(self, metrics, step=None):
        self._training.count(metrics)

    def log_hyperparams(self, *args, **kwargs):
        pass


class LightningCallback(pytorch.Callback):
    """Records steps of training, and forward, backward, optimizer and validation as scopes, of a Lightning Trainer.

    ``Trainer(callbacks=[LightningCallback("runs")])`` records into the directory `runs`. Without a path, steps and
    scopes go to the recording that runs, such as that of XLAPROF_RECORD. The time that Lightning takes to fetch the next
    batch lies between two steps. Metrics become counters whenever Lightning logs them.
    """

    def __init__(self, path=None):
        self._training = Training(path)
        self._counters = _Counters(self._training)
        self._hooks = []

    def setup(self, trainer, pl_module, stage):
        self._finish(trainer)
        self._step = place("train", pl_module.training_step)
        self._forward = place("forward", pl_module.training_step)
        self._backward, self._optimizer = place("backward"), place("optimizer")
        self._loops = {loop: place(loop, getattr(pl_module, f"{loop}_step")) for loop in ("validation", "test", "predict")}
        if trainer.loggers:  # without one, Lightning would wait for the device on account of ours
            trainer.loggers = [*trainer.loggers, self._counters]
        self._training.begin()

    def teardown(self, trainer, pl_module, stage):
        self._finish(trainer)

    def on_exception(self, trainer, pl_module, exception):
        self._finish(trainer)

    def _finish(self, trainer):
        if self._counters in trainer.loggers:
            trainer.loggers = [logger for logger in trainer.loggers if logger is not self._counters]
        for hook in self._hooks:
            hook.remove()
        self._hooks = []
        self._training.end()

    def on_train_start(self, trainer, pl_module):
        # Lightning calls nothing after an optimizer's step, but the optimizer does.
        for optimizer in trainer.optimizers:
            if hasattr(optimizer, "register_step_post_hook"):
                self._hooks.append(optimizer.register_step_post_hook(self._after_optimizer_step))

    def on_train_batch_start(self, trainer, pl_module, batch, batch_idx):
        self._training.begin_step(trainer.fit_loop.total_batch_idx, self._step)
        self._training.begin_scope(self._forward)

    def on_before_zero_grad(self, trainer, pl_module, optimizer):
        self._training.end_scope(self._forward)

    def on_before_backward(self, trainer, pl_module, loss):
        self._training.end_scope(self._forward)
        self._training.begin_scope(self._backward)

    def on_after_backward(self, trainer, pl_module):
        self._training.end_scope(self._backward)

    def on_before_optimizer_step(self, trainer, pl_module, optimizer):
        self._training.end_scope(self._forward)
        self._training.begin_scope(self._optimizer)

    def _after_optimizer_step(self, optimizer, args, kwargs):
        self._training.end_scope(self._optimizer)

    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
        self._training.end_scope(self._step)

    def on_validation_start(self, trainer, pl_module):
        self._training.begin_scope(self._loops["validation"])

    def on_validation_end(self, trainer, pl_module):
        self._training.end_scope(self._loops["validation"])

    def on_test_start(self, trainer, pl_module):
        self._training.begin_scope(self._loops["test"])

    def on_test_end(self, trainer, pl_module):
        self._training.end_scope(self._loops["test"])

    def on_predict_start(self, trainer, pl_module):
        self._training.begin_scope(self._loops["predict"])

    def on_predict_end(self, trainer, pl_module):
        self._training.end_scope(self._loops["predict"])
