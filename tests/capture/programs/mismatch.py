"""Ranks whose calls do not match: a real run would hang. The argument says how."""
import os
import sys

import torch
import torch.distributed as dist

torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
dist.init_process_group("nccl")
rank = dist.get_rank()
model = torch.nn.Linear(8, 8).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
limit = torch.tensor([3 if rank == 0 else 0], device="cuda")
dist.broadcast(limit, 0)
assert limit.item() == 3, "the root runs first"
for step in range(10**6):
    result = model(torch.ones(4, 8, device="cuda"))
    if sys.argv[1] == "third" and rank == 3:
        result = result * 2
    result.sum().backward()
    if sys.argv[1] == "first" and rank == 0:
        dist.all_reduce(torch.ones(5, device="cuda"))
    if sys.argv[1] == "dies" and rank == 3:
        raise ValueError("no data for rank 3")
    for parameter in model.parameters():
        dist.all_reduce(parameter.grad)
    optimizer.step()
    optimizer.zero_grad()
