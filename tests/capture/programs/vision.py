"""A convolutional network: DDP, synchronized batch norms, AMP, a data loader with workers, a profiler."""
import os

import torch
import torch.distributed as dist
from torch import nn


class Images(torch.utils.data.Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, i):
        return torch.full((3, 64, 64), float(i)), i % 10


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        layers = [nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width), nn.ReLU()]
        self.layers = nn.Sequential(*layers, nn.Conv2d(width, width, 3, padding=1, bias=False), nn.BatchNorm2d(width))

    def forward(self, x):
        return nn.functional.relu(x + self.layers(x))


dist.init_process_group("nccl")
torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
model = nn.Sequential(nn.Conv2d(3, 32, 7, stride=2, padding=3), nn.MaxPool2d(2), Residual(32), Residual(32),
                      nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10))
model = nn.SyncBatchNorm.convert_sync_batchnorm(model).cuda().to(memory_format=torch.channels_last)
model = nn.parallel.DistributedDataParallel(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
scaler = torch.amp.GradScaler()
sampler = torch.utils.data.distributed.DistributedSampler(Images())
loader = torch.utils.data.DataLoader(Images(), batch_size=2, sampler=sampler, num_workers=1, pin_memory=True)
activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
with torch.profiler.profile(activities=activities) as profile:
    for x, y in loader:
        with torch.autocast("cuda", dtype=torch.float16):
            x = x.cuda(non_blocking=True).to(memory_format=torch.channels_last)
            loss = nn.functional.cross_entropy(model(x), y.cuda(non_blocking=True))
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
print(dist.get_rank(), len(loader), any(event.key == "aten::cudnn_convolution" for event in profile.key_averages()))
dist.destroy_process_group()
