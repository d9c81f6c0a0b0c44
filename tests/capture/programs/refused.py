"""A function that a capture does not know fails with its name, as any error of CUDA does."""
import torch

try:
    torch.fft.fft(torch.ones(8, device="cuda", dtype=torch.complex64))
except RuntimeError as error:
    print(error)
