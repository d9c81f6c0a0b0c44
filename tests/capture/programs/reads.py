"""Reads of values that nobody computed, as training programs have them. What is computed exactly is read between them."""
import torch

gpu = "cuda"
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(512, 512), torch.nn.GELU(), torch.nn.Linear(512, 32000)).to(gpu)
router = torch.nn.Linear(512, 8, device=gpu)
optimizer = torch.optim.AdamW([*model.parameters(), *router.parameters()], lr=1e-3, foreach=True)
scaler = torch.amp.GradScaler()
tokens = torch.zeros((), dtype=torch.int64, device=gpu)

for step in range(3):
    hidden = torch.randn(256, 512, device=gpu)
    targets = torch.randint(0, 32000, (256,), device=gpu)
    tokens += targets.numel()
    with torch.autocast("cuda", dtype=torch.float16):
        chosen = router(hidden).topk(2, dim=-1).indices
        counts = torch.bincount(chosen.flatten(), minlength=8).tolist()  # balanced
        loss = torch.nn.functional.cross_entropy(model(hidden).float(), targets)
    if loss.item() > 1e4:  # early exit
        break
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    if not torch.isfinite(norm):
        continue
    scaler.step(optimizer)  # found_inf
    scaler.update()
    optimizer.zero_grad()
    print(step, counts, loss.item(), float(norm), int(tokens), bool((targets < 32000).all()), targets[:2].cpu().shape)
