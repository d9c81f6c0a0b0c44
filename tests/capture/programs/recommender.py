"""A recommender as DLRM: tables of embeddings live on different ranks and are exchanged, dense layers are copies."""
import os

import torch
import torch.distributed as dist
from torch import nn

BATCH, WIDTH, TABLES, ROWS, LOOKUPS = 64, 64, 2, 100000, 4  # tables and samples of a rank


class Exchange(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        received = torch.empty_like(x)
        dist.all_to_all_single(received, x)
        return received

    @staticmethod
    def backward(ctx, gradient):
        return Exchange.apply(gradient.contiguous())


dist.init_process_group("nccl")
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
world = dist.get_world_size()
tables = nn.ModuleList(nn.EmbeddingBag(ROWS, WIDTH, mode="sum", sparse=True) for _ in range(TABLES)).cuda()
features = world * TABLES + 1
bottom = nn.Sequential(nn.Linear(13, 512), nn.ReLU(), nn.Linear(512, WIDTH), nn.ReLU())
top = nn.Sequential(nn.Linear(WIDTH + features * (features - 1) // 2, 512), nn.ReLU(), nn.Linear(512, 1))
bottom, top = (nn.parallel.DistributedDataParallel(layers.cuda()) for layers in (bottom, top))
dense = torch.optim.Adagrad([*bottom.parameters(), *top.parameters()], lr=0.01)
sparse = torch.optim.SGD(tables.parameters(), lr=0.01)
rows, columns = torch.tril_indices(features, features, -1)
for step in range(3):
    indices = [torch.randint(0, ROWS, (BATCH * world * LOOKUPS,), device="cuda") for _ in range(TABLES)]
    offsets = torch.arange(0, BATCH * world * LOOKUPS, LOOKUPS, device="cuda")
    own = torch.stack([table(index, offsets) for table, index in zip(tables, indices)], 1)
    looked_up = Exchange.apply(own.view(world, BATCH, TABLES, WIDTH)).permute(1, 0, 2, 3).flatten(1, 2)
    x = bottom(torch.rand(BATCH, 13, device="cuda"))
    all_features = torch.cat([x.unsqueeze(1), looked_up], 1)
    products = torch.bmm(all_features, all_features.transpose(1, 2))[:, rows, columns]
    click = torch.rand(BATCH, 1, device="cuda").round()
    loss = nn.functional.binary_cross_entropy_with_logits(top(torch.cat([x, products], 1)), click)
    for optimizer in (dense, sparse):
        optimizer.zero_grad()
    loss.backward()
    for optimizer in (dense, sparse):
        optimizer.step()
print(dist.get_rank(), tuple(own.shape), tuple(products.shape))
dist.destroy_process_group()
