"""A CUDA graph of two streams, launched twice."""
import torch

x = torch.ones(256, 256, device="cuda", dtype=torch.bfloat16)
side = torch.cuda.Stream()
graph = torch.cuda.CUDAGraph()
torch.cuda.synchronize()
with torch.cuda.graph(graph):
    y = x @ x
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        z = y @ x
    torch.cuda.current_stream().wait_stream(side)
    y = z @ x
graph.replay()
graph.replay()
torch.cuda.synchronize()
