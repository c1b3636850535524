"""with_keras.py FOLDER [RUNS] trains a small network with Keras, with our callback if RUNS is given, and prints what it counted."""
import contextlib
import sys
import threading

import keras
import numpy
from keras.src.callbacks import callback_list
from seen import Seen

seen = Seen()
pythonify = callback_list.python_utils.pythonify_logs


def counting(logs):
    """Keras makes Python numbers of the logs with this function, which waits for the device."""
    seen.reads += bool(logs) and threading.current_thread() is threading.main_thread()
    return pythonify(logs)


callback_list.python_utils.pythonify_logs = counting


class Items(keras.utils.PyDataset):
    def __init__(self, count, what):
        super().__init__()
        self.count, self.what = count, what

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        with seen.doing(self.what, 0.02):
            return numpy.full((2, 4), index / 10), numpy.ones((2, 1))


class Slow(keras.layers.Layer):
    """Its calls while the model is built are not counted."""
    is_training = False

    def call(self, x, training=False):
        with seen.doing("train" if training else "validation", 0.01) if Slow.is_training else contextlib.nullcontext():
            return x * 1.0


class Logged(keras.callbacks.Callback):
    def on_train_begin(self, logs=None):
        Slow.is_training = True
        self.steps = 0

    def on_train_batch_begin(self, batch, logs=None):
        self.steps += 1

    def on_epoch_end(self, epoch, logs=None):
        for name, value in logs.items():
            seen.log(name, value)


logged = Logged()
callbacks = [logged]
if len(sys.argv) > 2:
    from xlaprof.callbacks import KerasCallback
    callbacks.append(KerasCallback(sys.argv[2]))
keras.utils.set_random_seed(0)
net = keras.Sequential([keras.layers.Input((4,)), Slow(), keras.layers.Dense(1)])
net.compile("sgd", "mse", run_eagerly=True)
net.fit(Items(5, "data"), epochs=2, validation_data=Items(3, "validation data"), verbose=0, callbacks=callbacks)
assert net.train_function.__name__ != "_run_step"
seen.print(steps=logged.steps)
