"""Callbacks that record trainings with Lightning, Hugging Face's Trainer and Keras.

>>> from xlaprof.callbacks import KerasCallback, LightningCallback, TrainerCallback  # doctest: +SKIP

A framework is imported when its callback is first asked for.
"""
import importlib

# The callback, and the module here that has it, which has the name by which pip installs the framework.
_CALLBACKS = {"LightningCallback": "lightning", "TrainerCallback": "transformers", "KerasCallback": "keras"}


def __getattr__(name):
    if name not in _CALLBACKS:
        raise AttributeError(f"module 'xlaprof.callbacks' has no attribute {name!r}")
    module = _CALLBACKS[name]
    try:
        return getattr(importlib.import_module(f"xlaprof.callbacks.{module}"), name)
    except ModuleNotFoundError as error:
        raise ImportError(f"xlaprof.callbacks.{name} needs {error.name}, which is not installed. Run: pip install {module}") from error


def __dir__():
    return sorted([*globals(), *_CALLBACKS])


__all__ = ["KerasCallback", "LightningCallback", "TrainerCallback"]
