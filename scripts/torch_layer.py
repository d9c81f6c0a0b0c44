"""Measures the forward and the backward pass of one layer of a Llama in PyTorch on this machine's GPU.

check_layer.py calls it with the extents. Each part runs the kernel that compute-sim lists for it: fused RMS norms,
attention by PyTorch's choice of library, one kernel for the rotation and one for the gated activation (made by
torch.compile). CUDA graphs record the passes, so the times are the GPU's and not the host's. The passes repeat for
seconds before they are timed, so the clocks are those of a long run.
"""
import statistics
import time

import torch
import torch.nn.functional as F

WARM_SECONDS = 3
REPEATS = 20


def rotate(x, cosine, sine):
    first, second = x.chunk(2, dim=-1)
    return torch.cat((first * cosine - second * sine, second * cosine + first * sine), dim=-1)


def gate(x):
    up, gated = x.chunk(2, dim=-1)
    return F.silu(gated) * up


class Layer:
    def __init__(self, shape):
        self.shape = shape
        s, wide = shape, (shape.heads + 2 * shape.kv_heads) * shape.head_dim
        parameter = lambda *size: (torch.randn(size, dtype=torch.bfloat16, device="cuda") * 0.02).requires_grad_()
        self.norms = [parameter(s.hidden), parameter(s.hidden)]
        self.qkv, self.projection = parameter(wide, s.hidden), parameter(s.hidden, s.heads * s.head_dim)
        self.up, self.down = parameter(2 * s.ffn, s.hidden), parameter(s.hidden, s.ffn)
        angles = torch.rand((s.sequence, 1, s.head_dim // 2), device="cuda") * 6
        self.cosine, self.sine = angles.cos().to(torch.bfloat16), angles.sin().to(torch.bfloat16)
        self.rotate, self.gate = torch.compile(rotate), torch.compile(gate)
        self.parameters = [*self.norms, self.qkv, self.projection, self.up, self.down]

    def forward(self, x):
        s = self.shape
        normed = F.rms_norm(x, (s.hidden,), self.norms[0])
        rotated, values = F.linear(normed, self.qkv).view(s.batch, s.sequence, -1, s.head_dim).split(
            (s.heads + s.kv_heads, s.kv_heads), dim=2)
        rotated = self.rotate(rotated, self.cosine, self.sine)
        query, keys = rotated.split((s.heads, s.kv_heads), dim=2)
        seen = F.scaled_dot_product_attention(query.transpose(1, 2), keys.transpose(1, 2), values.transpose(1, 2),
                                              is_causal=True, enable_gqa=s.heads != s.kv_heads)
        x = x + F.linear(seen.transpose(1, 2).reshape(s.batch, s.sequence, -1), self.projection)
        normed = F.rms_norm(x, (s.hidden,), self.norms[1])
        return x + F.linear(self.gate(F.linear(normed, self.up)), self.down)


def recorded(step):
    """Returns `step` as a CUDA graph. Runs it first until it is compiled."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph


def timed(graph):
    """Returns the median microseconds of several replays, after seconds of warm-up."""
    end = time.monotonic() + WARM_SECONDS
    while time.monotonic() < end:
        for _ in range(10):
            graph.replay()
        torch.cuda.synchronize()
    marks = [torch.cuda.Event(enable_timing=True) for _ in range(REPEATS + 1)]
    marks[0].record()
    for mark in marks[1:]:
        graph.replay()
        mark.record()
    torch.cuda.synchronize()
    return statistics.median(a.elapsed_time(b) * 1e3 for a, b in zip(marks, marks[1:]))


def measure(shape):
    """Returns {"forward_us": ..., "backward_us": ..., "on": ...}."""
    torch.manual_seed(0)
    layer = Layer(shape)
    size = (shape.batch, shape.sequence, shape.hidden)
    x = torch.randn(size, dtype=torch.bfloat16, device="cuda").requires_grad_()
    gradient = torch.randn(size, dtype=torch.bfloat16, device="cuda")
    forward = timed(recorded(lambda: layer.forward(x)))
    both = timed(recorded(lambda: torch.autograd.grad(layer.forward(x), [x, *layer.parameters], gradient)))
    return {"forward_us": forward, "backward_us": both - forward,
            "on": f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}"}
