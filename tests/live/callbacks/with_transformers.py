"""with_transformers.py FOLDER [RUNS] trains a small network with Hugging Face's Trainer, with our callback if RUNS is given, and prints what
it counted."""
import sys

import torch
import transformers
from seen import Seen
from torch.utils._python_dispatch import TorchDispatchMode

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
        with seen.doing(self.what, 0.01):
            return {"x": torch.full((4,), float(index)), "labels": torch.ones(1)}


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)

    def forward(self, x, labels=None):
        with seen.doing("forward and backward" if self.training else "validation", 0.01):
            found = self.layer(x)
        return {"loss": (found - labels).square().mean() / 100, "logits": found}


class Optimizer(torch.optim.SGD):
    def step(self, closure=None):
        with seen.doing("optimizer", 0.005):
            return super().step(closure)


class Logged(transformers.TrainerCallback):
    def on_log(self, args, state, control, logs=None, **kwargs):
        for name, value in logs.items():
            seen.log(name, value)


callbacks = [Logged()]
if len(sys.argv) > 2:
    from xlaprof.callbacks import TrainerCallback
    callbacks.append(TrainerCallback(sys.argv[2]))
torch.manual_seed(0)
net = Net()
optimizer = Optimizer(net.parameters(), lr=1e-4)
options = transformers.TrainingArguments(output_dir=sys.argv[1], num_train_epochs=2, per_device_train_batch_size=2, gradient_accumulation_steps=2,
                                         logging_steps=2, eval_strategy="epoch", save_strategy="no", report_to=[], use_cpu=True, disable_tqdm=True)
trainer = transformers.Trainer(model=net, args=options, train_dataset=Items(12, "data"), eval_dataset=Items(4, "validation data"),
                               optimizers=(optimizer, torch.optim.lr_scheduler.ConstantLR(optimizer)), callbacks=callbacks)
with Reads():
    trainer.train()
seen.print(steps=trainer.state.global_step)
