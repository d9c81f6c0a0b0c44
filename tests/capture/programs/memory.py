"""PyTorch's own statistics and errors of memory."""
import torch

x = torch.empty(100, 2**20, dtype=torch.uint8, device="cuda")
print(torch.cuda.memory_allocated() >> 20, torch.cuda.max_memory_reserved() >> 20)
del x
torch.cuda.empty_cache()
print(torch.cuda.memory_reserved())
free, total = torch.cuda.mem_get_info()
print(total >> 30, free < total)
try:
    torch.empty(total, dtype=torch.uint8, device="cuda")
except torch.OutOfMemoryError as error:
    print(str(error).split(". ")[0])
