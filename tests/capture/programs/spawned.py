"""Training that starts the ranks of its host itself, as PyTorch's tutorials do. The argument: how many."""
import os
import sys
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing


def train(rank, world):
    os.environ["MASTER_ADDR"], os.environ["MASTER_PORT"] = "localhost", "12355"
    dist.init_process_group("nccl", rank=rank, world_size=world)
    print("told", rank, world, tempfile.mkdtemp(), flush=True)
    torch.cuda.set_device(rank)
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(256, 256).cuda(rank), device_ids=[rank])
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for _ in range(5):
        model(torch.randn(32, 256, device=rank)).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
    dist.destroy_process_group()


if __name__ == "__main__":
    count = int(sys.argv[1])
    if count == 1:
        train(0, 4)  # one of four processes that somebody else starts
    torch.multiprocessing.spawn(train, args=(count,), nprocs=count, join=True)
