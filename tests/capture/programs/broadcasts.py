"""What rank 0 tells the others: a number, objects, whether to train."""
import os

import torch
import torch.distributed as dist

dist.init_process_group("nccl")
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
first = dist.get_rank() == 0
flag = torch.tensor(7 if first else 0, device="cuda")
dist.broadcast(flag, 0)
settings = [{"layers": 3, "names": ["a", "b"]} if first else None]
if flag.item() == 7:
    dist.broadcast_object_list(settings, 0)
# Of ranks that rank 0 does not belong to, and of every other rank.
pair, even = dist.new_group([2, 3]), dist.new_group(list(range(0, dist.get_world_size(), 2)))
steps = torch.tensor(float(dist.get_rank()), device="cuda")
if dist.get_rank() % 2 == 0:
    dist.broadcast(steps, 0, group=even)
print(flag.item(), settings, steps.item())
dist.destroy_process_group()
