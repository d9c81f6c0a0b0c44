"""Groups that PyTorch splits off the world, since the process is bound to its GPU."""
import os

import torch
import torch.distributed as dist

local = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(local)
dist.init_process_group("nccl", device_id=torch.device("cuda", local))
everyone, even = dist.new_group(list(range(dist.get_world_size()))), dist.new_group([0, 2, 4, 6])
dist.all_reduce(torch.ones(4, device="cuda"), group=everyone)
if dist.get_rank() % 2 == 0:
    dist.all_reduce(torch.ones(8, device="cuda"), group=even)
