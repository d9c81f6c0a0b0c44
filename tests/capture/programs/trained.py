"""Training that says what its launcher has told it; with DDP if it has several ranks."""
import json
import os
import sys

import torch
import torch.distributed as dist

told = [os.environ.get(name, "none") for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK")]
made = json.load(open(sys.argv[-1])) if sys.argv[-1].endswith(".json") else ""
print("told", *told, sys.argv[1:], *([made] if made else []), flush=True)
local = int(told[2]) if told[2] != "none" else 0
torch.cuda.set_device(local)
model = torch.nn.Linear(256, 256).cuda()
if told[1] != "none":
    assert all(word == f"--local_rank={local}" for word in sys.argv if word.startswith("--local_rank")), sys.argv
    dist.init_process_group("nccl")
    model = torch.nn.parallel.DistributedDataParallel(model)
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for _ in range(5):
    model(torch.randn(32, 256, device="cuda")).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
