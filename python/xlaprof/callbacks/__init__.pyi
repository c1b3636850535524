"""Callbacks that record trainings with Lightning, Hugging Face's Trainer and Keras."""
import os
from typing import Optional, Union

from keras.callbacks import Callback as _KerasCallback  # type: ignore[import-not-found, import-untyped, unused-ignore]
from lightning.pytorch import Callback as _LightningCallback  # type: ignore[import-not-found, import-untyped, unused-ignore]
from transformers import TrainerCallback as _TrainerCallback  # type: ignore[import-not-found, import-untyped, unused-ignore]

_Path = Union[str, os.PathLike[str]]

class LightningCallback(_LightningCallback):  # type: ignore[misc, unused-ignore]
    def __init__(self, path: Optional[_Path] = None) -> None: ...

class TrainerCallback(_TrainerCallback):  # type: ignore[misc, unused-ignore]
    def __init__(self, path: Optional[_Path] = None) -> None: ...

class KerasCallback(_KerasCallback):  # type: ignore[misc, unused-ignore]
    def __init__(self, path: Optional[_Path] = None) -> None: ...
