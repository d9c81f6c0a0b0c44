"""Values that the host reads back: each line is what a GPU would give."""
import torch

gpu = "cuda"
print(torch.cuda.device_count(), torch.cuda.get_device_capability(), torch.cuda.get_device_properties(0).multi_processor_count)

x = torch.tensor([3.0, 1.0, 2.0], device=gpu)
print(x.tolist(), (x * 2 + 1).tolist(), x.sum().item(), x.argmax().item(), x.sort().indices.tolist())
print(torch.zeros(2, device=gpu).tolist(), torch.full((2,), 7, device=gpu).tolist(), torch.arange(4, device=gpu).tolist())

mask = torch.tensor([True, False, True, True], device=gpu)
print(mask.nonzero().flatten().tolist(), torch.arange(4, device=gpu)[mask].tolist(), mask.sum().item())
print(torch.bincount(torch.tensor([0, 1, 1, 5], device=gpu)).tolist(),
      torch.unique(torch.tensor([4, 4, 2], device=gpu)).tolist(),
      torch.repeat_interleave(torch.tensor([1, 2], device=gpu), torch.tensor([2, 3], device=gpu)).tolist())
print(torch.histc(torch.tensor([0, 1, 1, 3], device=gpu), bins=4, min=0, max=4).tolist())
print(torch.equal(x, x), torch.equal(x, x + 1), bool((x > 1).all()), x.half().tolist(), x.cpu().double().tolist())

# A step of an optimizer with clipped gradients.
weight = torch.nn.Parameter(torch.eye(4, device=gpu))
optimizer = torch.optim.AdamW([weight], lr=0.1)
for _ in range(2):
    loss = ((torch.arange(4.0, device=gpu) @ weight) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_([weight], 1.0)
    optimizer.step()
    print(round(loss.item(), 4), round(norm.item(), 4))

# Gradients that overflow fp16: the scale is halved.
scaler = torch.amp.GradScaler()
layer = torch.nn.Linear(4, 4, device=gpu)
sgd = torch.optim.SGD(layer.parameters(), lr=0.1)
with torch.autocast("cuda", dtype=torch.float16):
    total = layer(torch.full((2, 4), 1.0, device=gpu)).sum()
scaler.scale(total).backward()
scaler.step(sgd)
scaler.update()
print(scaler.get_scale())

# What depends on something large is zero, and a router of unknown scores uses every choice equally often.
large = torch.randn(4096, 4096, device=gpu)
picks = (large @ large).topk(2, dim=-1).indices.flatten().bincount(minlength=4096)
print((large @ large).sum().item(), picks.min().item(), picks.max().item())

# The libraries are those that PyTorch was built with.
print(torch.backends.cudnn.version())

# A package that the hooks wait for, and that is not installed.
try:
    import amp_C
except ImportError as error:
    print(error)
