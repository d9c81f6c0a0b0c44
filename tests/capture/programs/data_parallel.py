"""Training with DDP, groups of some ranks, messages and objects."""
import os

import torch
import torch.distributed as dist

torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
dist.init_process_group("nccl")
rank, world = dist.get_rank(), dist.get_world_size()
ones = torch.ones(4, device="cuda")
dist.all_reduce(ones)
print(rank, world, ones.tolist())

layers = torch.nn.Sequential(torch.nn.Linear(256, 1024), torch.nn.GELU(), torch.nn.Linear(1024, 256))
model = torch.nn.parallel.DistributedDataParallel(layers.cuda().bfloat16())
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
pair, every_fourth = dist.new_group([0, 2]), dist.new_group(list(range(0, world, 4)))
if rank in (0, 2):
    dist.all_gather_into_tensor(torch.empty(8, device="cuda"), ones, group=pair)
for _ in range(3):
    loss = model(torch.randn(64, 256, device="cuda", dtype=torch.bfloat16)).float().pow(2).mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
if rank == 0:
    dist.send(torch.ones(3, device="cuda"), 1)
objects = [None] * world
dist.all_gather_object(objects, {"rank": rank})
print(len(objects), objects[0] == objects[-1])
dist.destroy_process_group()
