"""with_lightning.py FOLDER [RUNS] trains a small network with Lightning, with our callback if RUNS is given, and prints what it counted."""
import sys
import warnings

import lightning
import torch
from lightning.pytorch.loggers import CSVLogger
from seen import Seen
from torch.utils._python_dispatch import TorchDispatchMode

warnings.filterwarnings("ignore")
seen = Seen()


class Reads(TorchDispatchMode):
    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        seen.reads += function is torch.ops.aten._local_scalar_dense.default
        return function(*args, **(kwargs or {}))


class Items(torch.utils.data.Dataset):
    def __init__(self, count, what):
        self.count, self.what = count, what

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        with seen.doing(self.what, 0.02):
            return torch.full((4,), float(index))


class Optimizer(torch.optim.SGD):
    def step(self, closure=None):
        with torch.enable_grad():
            loss = closure()
        with seen.doing("optimizer", 0.005):
            super().step()
        return loss


class Net(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)

    def training_step(self, batch, index):
        with seen.doing("forward", 0.01):
            loss = self.layer(batch).square().mean() / 100
        self.log("loss", loss)
        return loss

    def backward(self, loss):
        with seen.doing("backward", 0.01):
            loss.backward()

    def validation_step(self, batch, index):
        with seen.doing("validation", 0.01):
            self.log("val_loss", self.layer(batch).mean())

    def configure_optimizers(self):
        return Optimizer(self.parameters(), lr=1e-4)


class Logger(CSVLogger):
    """What Lightning logs."""

    def log_metrics(self, metrics, step=None):
        for name, value in metrics.items():
            seen.log(name, value)


def loader(count, what):
    return torch.utils.data.DataLoader(Items(count, what), batch_size=2)


callbacks = []
if len(sys.argv) > 2:
    from xlaprof.callbacks import LightningCallback
    callbacks.append(LightningCallback(sys.argv[2]))
torch.manual_seed(0)
logger = Logger(sys.argv[1])
trainer = lightning.Trainer(accelerator="cpu", max_epochs=2, log_every_n_steps=2, logger=logger, callbacks=callbacks, enable_progress_bar=False,
                            enable_model_summary=False, enable_checkpointing=False, default_root_dir=sys.argv[1])
with Reads():
    trainer.fit(Net(), loader(10, "data"), loader(4, "validation data"))
assert trainer.loggers == [logger]
seen.print(steps=trainer.global_step)
