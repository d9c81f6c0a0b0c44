"""What cuDNN computes: attention, convolutions of both its interfaces, batch normalization, recurrent layers."""
import sys

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

which = sys.argv[1]
gpu = "cuda"
if which == "attention":
    q, k, v = (torch.randn(2, heads, 256, 64, device=gpu, dtype=torch.bfloat16, requires_grad=True) for heads in (8, 2, 2))
    with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
        o = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        o.sum().backward()
    print(o.shape, q.grad.shape, k.grad.shape)
elif which == "convolution":
    torch.backends.cudnn.benchmark = len(sys.argv) > 2
    layer = torch.nn.Conv2d(16, 32, 3, stride=2, padding=1, groups=2, device=gpu, dtype=torch.bfloat16)
    x = torch.randn(4, 16, 64, 64, device=gpu, dtype=torch.bfloat16, requires_grad=True)
    layer(x).sum().backward()
    layer.to(memory_format=torch.channels_last)(x.detach().to(memory_format=torch.channels_last))
    for allowed in (True, False):
        torch.backends.cudnn.allow_tf32 = allowed
        torch.nn.functional.conv1d(torch.ones(1, 4, 32, device=gpu), torch.ones(8, 4, 5, device=gpu))
    up = torch.nn.ConvTranspose3d(4, 2, 2, stride=2, device=gpu, dtype=torch.float16)
    print(x.grad.shape, up(torch.randn(1, 4, 8, 8, 8, device=gpu, dtype=torch.float16)).shape)
elif which == "others":
    x = torch.randn(4, 16, 64, 64, device=gpu, requires_grad=True)
    norm = torch.nn.BatchNorm2d(16, device=gpu)
    norm(x).sum().backward()
    norm.eval()(x)
    lstm = torch.nn.LSTM(32, 64, num_layers=2, bidirectional=True, device=gpu)
    y, _ = lstm(torch.randn(5, 3, 32, device=gpu))
    y.sum().backward()
    print(y.shape)
