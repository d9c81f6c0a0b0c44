"""Trains a Llama of plain PyTorch with DeepSpeed's ZeRO for a few iterations. Data are random.

Arguments are name=value; OPTIONS has their defaults. Each iteration is a range of PyTorch's profiler, "iteration N".
"""
import os
import sys
import warnings

import torch
import torch.nn.functional as functional
from torch import nn

warnings.filterwarnings("ignore")
import deepspeed

OPTIONS = dict(layers=4, hidden=512, heads=8, kv_heads=4, ffn=1536, vocab=32768, sequence=1024, micro_batch=1, micro_batches=2, stage=1,
               bucket=500000000, prefetch=50000000, persistence=100000, overlap=0, iterations=3)
for word in sys.argv[1:]:
    if "=" not in word or word.startswith("--"):
        continue
    name, value = word.split("=")
    OPTIONS[name] = type(OPTIONS[name])(value)
o = type("Options", (), OPTIONS)


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.width = o.hidden // o.heads
        self.q_proj = nn.Linear(o.hidden, o.hidden, bias=False)
        self.k_proj = nn.Linear(o.hidden, o.kv_heads * self.width, bias=False)
        self.v_proj = nn.Linear(o.hidden, o.kv_heads * self.width, bias=False)
        self.o_proj = nn.Linear(o.hidden, o.hidden, bias=False)

    def forward(self, x, cosines, sines):
        batch, rows, _ = x.shape
        q, k, v = (p(x).view(batch, rows, -1, self.width).transpose(1, 2) for p in (self.q_proj, self.k_proj, self.v_proj))
        q, k = (t * cosines + torch.cat((-t[..., self.width // 2:], t[..., :self.width // 2]), -1) * sines for t in (q, k))
        k, v = (t.repeat_interleave(o.heads // o.kv_heads, dim=1) for t in (k, v))
        out = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o_proj(out.transpose(1, 2).reshape(batch, rows, -1))


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate_proj = nn.Linear(o.hidden, o.ffn, bias=False)
        self.up_proj = nn.Linear(o.hidden, o.ffn, bias=False)
        self.down_proj = nn.Linear(o.ffn, o.hidden, bias=False)

    def forward(self, x):
        return self.down_proj(functional.silu(self.gate_proj(x)) * self.up_proj(x))


class Layer(nn.Module):
    """As transformers' LlamaDecoderLayer: attention, MLP, and their norms, in this order of registration."""

    def __init__(self):
        super().__init__()
        self.self_attn = Attention()
        self.mlp = Mlp()
        self.input_layernorm = nn.RMSNorm(o.hidden)
        self.post_attention_layernorm = nn.RMSNorm(o.hidden)

    def forward(self, x, cosines, sines):
        x = x + self.self_attn(self.input_layernorm(x), cosines, sines)
        return x + self.mlp(self.post_attention_layernorm(x))


class Llama(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed_tokens = nn.Embedding(o.vocab, o.hidden)
        self.layers = nn.ModuleList(Layer() for _ in range(o.layers))
        self.norm = nn.RMSNorm(o.hidden)
        self.lm_head = nn.Linear(o.hidden, o.vocab, bias=False)

    def forward(self, tokens, labels):
        x = self.embed_tokens(tokens)
        width = o.hidden // o.heads
        angles = torch.outer(torch.arange(o.sequence, device=x.device), 10000.0 ** (-torch.arange(0, width, 2, device=x.device) / width))
        cosines, sines = (torch.cat((f(angles), f(angles)), -1).to(x.dtype) for f in (torch.cos, torch.sin))
        for layer in self.layers:
            x = layer(x, cosines, sines)
        return functional.cross_entropy(self.lm_head(self.norm(x)).float().flatten(0, 1), labels.flatten())


def main():
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    deepspeed.init_distributed("nccl")
    zero = dict(stage=o.stage, reduce_bucket_size=o.bucket, allgather_bucket_size=o.bucket, stage3_prefetch_bucket_size=o.prefetch,
                stage3_param_persistence_threshold=o.persistence, contiguous_gradients=True,
                overlap_comm=bool(o.overlap) if o.stage < 3 else True)
    config = dict(train_micro_batch_size_per_gpu=o.micro_batch, gradient_accumulation_steps=o.micro_batches, bf16=dict(enabled=True),
                  zero_optimization=zero, gradient_clipping=1.0, zero_allow_untested_optimizer=True)
    if o.stage == 3:
        with deepspeed.zero.Init(config_dict_or_path=config | dict(train_batch_size=o.micro_batch * o.micro_batches *
                                                                    torch.distributed.get_world_size())):
            model = Llama()
    else:
        model = Llama()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    engine, *_ = deepspeed.initialize(model=model, optimizer=optimizer, config=config)
    for i in range(o.iterations):
        torch.cuda.reset_peak_memory_stats()
        with torch.profiler.record_function(f"iteration {i}"):
            for _ in range(o.micro_batches):
                tokens, labels = (torch.randint(0, o.vocab, (o.micro_batch, o.sequence)).cuda() for _ in range(2))
                engine.backward(engine(tokens, labels))
                engine.step()
    print("peak", torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved(), flush=True)


main()
