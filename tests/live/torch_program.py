"""torch_program.py PORT SECONDS runs a torch_xla program that trains, with its profiler server."""
import sys
import time

import torch
import torch_xla
import torch_xla.debug.profiler as xp

server = xp.start_server(int(sys.argv[1]))
device = torch_xla.device()
net = torch.nn.Linear(64, 64).to(device)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
end = time.monotonic() + float(sys.argv[2])
step = 0
while time.monotonic() < end:
    with xp.StepTrace("train", step_num=step):
        with xp.Trace("forward"):
            loss = net(torch.randn(32, 64, device=device)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    step += 1
    time.sleep(0.01)
