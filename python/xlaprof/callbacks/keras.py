"""The callback for Keras 3."""
import keras

from xlaprof.callbacks._training import Training, place


class _Data:
    """The batches of Keras on JAX, which the step itself fetches. Calls `fetched` when one has come."""

    def __init__(self, batches, fetched):
        self._batches, self._fetched = batches, fetched

    def __iter__(self):
        return self

    def __next__(self):
        batch = next(self._batches)
        self._fetched()
        return batch


class KerasCallback(keras.callbacks.Callback):
    """Records steps of training, and validation as a scope, of model.fit of Keras.

    ``model.fit(..., callbacks=[KerasCallback("runs")])`` records into the directory `runs`. Without a path, steps and
    scopes go to the recording that runs, such as that of XLAPROF_RECORD. With JAX and PyTorch, the time that the next
    batch takes lies between two steps. With TensorFlow, it lies in the step. The logs of an epoch become counters.
    """

    # Keras waits for the device after each step if a callback has on_train_batch_end. So this one has none, and
    # wraps the function that runs a step instead.

    def __init__(self, path=None):
        super().__init__()
        self._training = Training(path)
        self._step, self._number, self._inner = place("train"), 0, None
        self._validation, self._test, self._predict = place("validation"), place("test"), place("predict")
        self._is_training = False

    def on_train_begin(self, logs=None):
        self._training.begin()
        self._is_training = True
        function = self.model.train_function
        before = getattr(function, "__self__", None)
        if isinstance(before, KerasCallback):  # a fit that failed left it here
            function = before._inner
        self._inner, self.model.train_function = function, self._run_step

    def on_train_end(self, logs=None):
        self.model.train_function, self._inner = self._inner, None
        self._is_training = False
        self._training.end()

    def _run_step(self, *args):
        if keras.backend.backend() == "jax":
            args = (*args[:-1], _Data(args[-1], self._begin_step))
        else:
            self._begin_step()
        try:
            return self._inner(*args)
        finally:
            self._training.end_scope(self._step)

    def _begin_step(self):
        if not self._training.is_open(self._step):  # a step may run the model several times
            self._training.begin_step(self._number, self._step)
            self._number += 1

    def on_epoch_end(self, epoch, logs=None):
        self._training.count(logs)

    def on_test_begin(self, logs=None):
        self._begin_loop(self._validation if self._is_training else self._test)

    def on_test_end(self, logs=None):
        self._end_loop(self._validation)

    def on_predict_begin(self, logs=None):
        self._begin_loop(self._predict)

    def on_predict_end(self, logs=None):
        self._end_loop(self._predict)

    def _begin_loop(self, where):
        if not self._is_training:
            self._training.begin()
        self._training.begin_scope(where)

    def _end_loop(self, where):
        self._training.end_scope(where)
        if not self._is_training:
            self._training.end()
