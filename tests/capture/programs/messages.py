"""What rank 0 tells each other rank by itself: objects in a message, a part of a scatter."""
import os

import torch
import torch.distributed as dist

dist.init_process_group("nccl")
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
rank, world = dist.get_rank(), dist.get_world_size()
objects = [{"shape": [3, 4]} if rank == 0 else None]
if rank == 0:
    dist.send_object_list(objects, 2)
elif rank == 2:
    dist.recv_object_list(objects, 0)
part = torch.zeros(2, dtype=torch.int64, device="cuda")
dist.scatter(part, [torch.full_like(part, 10 + member) for member in range(world)] if rank == 0 else None)
print(objects, part.tolist())
dist.destroy_process_group()
