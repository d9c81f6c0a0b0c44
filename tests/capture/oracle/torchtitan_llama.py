"""Trains torchtitan's Llama for a few iterations with torchtitan's own parallelisms. Data are random.

The model, parallelize_llama and the functions for norm and loss are those of torchtitan 0.2.0; the loop follows its train.py.
Arguments are name=value; OPTIONS has their defaults. Each iteration is a range of PyTorch's profiler, "iteration N".
"""
import os
import sys
import types
import unittest.mock
import warnings

import torch

warnings.filterwarnings("ignore")


class Absent(types.ModuleType):
    """Stands for packages of data sets and tokenizers, which torchtitan imports with its models."""

    __path__ = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {"__class_getitem__": classmethod(lambda cls, item: cls)})


for name in ("datasets", "datasets.distributed", "tokenizers", "torchdata", "torchdata.stateful_dataloader", "torchtitan.hf_datasets",
             "torchtitan.hf_datasets.text_datasets", "torchtitan.components.tokenizer", "torchtitan.components.validate",
             "torchtitan.components.dataloader", "torchtitan.components.checkpoint", "torchtitan.protocols.state_dict_adapter", "torchtitan.components.metrics",
             "torchtitan.models.utils"):
    try:
        if name.startswith("torchtitan"):
            raise ImportError
        __import__(name)
    except ImportError:
        sys.modules[name] = Absent(name)

try:
    import tyro  # noqa: F401
except ImportError:
    sys.modules["tyro"] = unittest.mock.MagicMock()  # reads command lines

from torchtitan.config import JobConfig
from torchtitan.distributed import ParallelDims
from torchtitan.distributed import utils as distributed
from torchtitan.models.attention import ScaledDotProductAttentionWrapper
from torchtitan.models.llama3.infra.parallelize import parallelize_llama
from torchtitan.models.llama3.model.args import TransformerModelArgs
from torchtitan.models.llama3.model.model import Transformer

OPTIONS = dict(layers=4, hidden=512, heads=8, kv_heads=4, vocab=32768, sequence=1024, micro_batch=1, micro_batches=2, replicas=1, tensor=1,
               context=1, rotate="allgather", recompute="none", reshard="default", iterations=3)
for word in sys.argv[1:]:
    name, value = word.split("=")
    OPTIONS[name] = type(OPTIONS[name])(value)
o = type("Options", (), OPTIONS)


def main():
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    torch.distributed.init_process_group("nccl")
    world = torch.distributed.get_world_size()
    config = JobConfig()
    config.training.seq_len, config.training.local_batch_size = o.sequence, o.micro_batch
    config.parallelism.context_parallel_degree = o.context
    config.parallelism.context_parallel_rotate_method = o.rotate
    config.parallelism.fsdp_reshard_after_forward = o.reshard
    config.activation_checkpoint.mode = o.recompute
    dims = ParallelDims(dp_replicate=o.replicas, dp_shard=-1, cp=o.context, tp=o.tensor, pp=1, ep=1, etp=1, world_size=world)
    mesh = dims.world_mesh
    shape = TransformerModelArgs(dim=o.hidden, n_layers=o.layers, n_heads=o.heads, n_kv_heads=o.kv_heads, vocab_size=o.vocab,
                                 max_seq_len=o.sequence)
    ScaledDotProductAttentionWrapper.sdpa_backends = [torch.nn.attention.SDPBackend.FLASH_ATTENTION]
    with torch.device("meta"):
        model = Transformer(shape)
    model = parallelize_llama(model, dims, config)
    model.to_empty(device="cuda")
    # erfinv is a kernel that PyTorch compiles when it is called.
    torch.nn.init.trunc_normal_ = lambda tensor, mean=0.0, std=1.0, **others: torch.nn.init.normal_(tensor, mean, std)
    with torch.no_grad():
        model.init_weights(buffer_device=None)
    model.train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    context = distributed.get_train_context(enable_loss_parallel=o.tensor > 1, enable_compiled_autograd=False)
    for i in range(o.iterations):
        torch.cuda.reset_peak_memory_stats()
        with torch.profiler.record_function(f"iteration {i}"):
            optimizer.zero_grad()
            losses = []
            for _ in range(o.micro_batches):
                inputs = torch.randint(0, o.vocab, (o.micro_batch, o.sequence)).cuda()
                labels = torch.randint(0, o.vocab, (o.micro_batch, o.sequence)).cuda()
                part = None
                if dims.cp_enabled:
                    part = distributed.create_context_parallel_ctx(
                        cp_mesh=mesh["cp"], cp_buffers=[inputs, labels, model.freqs_cis], cp_seq_dims=[1, 1, 0],
                        cp_no_restore_buffers={inputs, labels}, cp_rotate_method=o.rotate)
                with context(part):
                    predicted = model(inputs)
                    loss = torch.nn.functional.cross_entropy(predicted.flatten(0, 1).float(), labels.flatten(0, 1)) / o.micro_batches
                    del predicted
                    loss.backward()
                losses.append(loss.detach())
            norm = distributed.clip_grad_norm_(list(model.parameters()), 1.0, foreach=True)
            optimizer.step()
            loss = torch.sum(torch.stack(losses))
            group = mesh["dp_cp"]
            distributed.dist_mean(loss.detach(), group)
            distributed.dist_max(loss.detach(), group)
            distributed.dist_sum(torch.tensor(0, dtype=torch.int64, device="cuda"), group)
            norm.item()
    print("peak", torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved(), flush=True)


main()
