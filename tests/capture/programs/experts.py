"""Experts on all ranks: the host reads how many tokens each of them sends and gets, and exchanges as many."""
import os

import torch
import torch.distributed as dist

rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
dist.init_process_group("nccl")
size = 512
router, expert = torch.nn.Linear(size, world, device="cuda"), torch.nn.Linear(size, size, device="cuda")
optimizer = torch.optim.AdamW([*router.parameters(), *expert.parameters()], lr=1e-3)
for step in range(3):
    tokens = torch.randn(1024, size, device="cuda")
    chosen = router(tokens).argmax(-1)
    counts = torch.bincount(chosen, minlength=world)
    received = torch.empty_like(counts)
    dist.all_to_all_single(received, counts)
    sends, receives = counts.tolist(), received.tolist()
    inputs = torch.empty(sum(receives), size, device="cuda")
    dist.all_to_all_single(inputs, tokens[chosen.argsort()], receives, sends)
    results = expert(inputs)
    dist.all_to_all_single(torch.empty_like(tokens), results.detach(), sends, receives)
    results.sum().backward()
    optimizer.step()
    optimizer.zero_grad()
    ranks = torch.ones(1, dtype=torch.int64, device="cuda")
    dist.all_reduce(ranks)
    print(step, sends, receives, ranks.item(), flush=True)
