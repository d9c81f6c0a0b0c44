"""Trains a model of megatron-core 0.16.1 for a few iterations, as Megatron-LM's training loop does. Data are random.

Arguments are name=value; OPTIONS has their defaults. Each iteration is a range of PyTorch's profiler, "iteration N".
"""
import os
import sys
import warnings
from functools import partial

import torch

warnings.filterwarnings("ignore")

from megatron.core import parallel_state as state
from megatron.core.distributed import DistributedDataParallel, DistributedDataParallelConfig, finalize_model_grads
from megatron.core.models.gpt import GPTModel
from megatron.core.models.gpt.gpt_layer_specs import get_gpt_layer_local_spec
from megatron.core.optimizer import OptimizerConfig, get_megatron_optimizer
from megatron.core.pipeline_parallel.schedules import get_forward_backward_func
from megatron.core.rerun_state_machine import RerunMode, get_rerun_state_machine, initialize_rerun_state_machine
from megatron.core.tensor_parallel.random import model_parallel_cuda_manual_seed
from megatron.core.transformer.transformer_block import TransformerBlockSubmodules, get_num_layers_to_build
from megatron.core.transformer.module import Float16Module
from megatron.core.transformer.transformer_config import MLATransformerConfig, TransformerConfig

OPTIONS = dict(layers=4, hidden=512, heads=8, kv_heads=8, ffn=2048, vocab=32768, sequence=1024, micro_batch=1, micro_batches=4,
               tensor=1, pipeline=1, virtual=1, context=1, expert=1, experts=0, topk=2, expert_ffn=512, shared_ffn=0, dispatcher="alltoall",
               sequence_parallel=0, llama=0, mla=0, recompute="none", distributed_optimizer=1, grad_reduce=0, param_gather=0,
               overlap_p2p=0, iterations=3, dropout=0.0, tied=1, bucket=0, qk_norm=0, instances=1,
               modules="core_attn", method="uniform", repeated=1, first_stage=0)
for word in sys.argv[1:]:
    name, value = word.split("=")
    OPTIONS[name] = type(OPTIONS[name])(value)
o = type("Options", (), OPTIONS)


class Norm(torch.nn.Module):
    """A norm that tells Megatron that its gradients are parts of a sum, which PyTorch's own norms do not."""

    def __new__(cls, config, hidden_size, eps=1e-5, **others):
        make = torch.nn.RMSNorm if config.normalization == "RMSNorm" else torch.nn.LayerNorm
        norm = make(hidden_size, eps=eps)
        for parameter in norm.parameters():
            parameter.sequence_parallel = config.sequence_parallel
        return norm


class LatentCore(torch.nn.Module):
    """Unfused attention whose values have another width than its keys, which Megatron's own does not take."""

    def __init__(self, config, layer_number, attn_mask_type, attention_type, softmax_scale=None, v_channels=None, **others):
        super().__init__()
        self.scale = softmax_scale

    def forward(self, query, key, value, *others, **named):
        rows, batch, heads, width = query.shape
        q, k, v = (t.reshape(rows, batch * heads, -1).transpose(0, 1) for t in (query, key, value))
        scores = torch.baddbmm(q.new_empty(q.shape[0], rows, rows), q, k.transpose(1, 2), beta=0.0, alpha=self.scale)
        mask = torch.ones(rows, rows, dtype=torch.bool, device=q.device).triu(1)
        shares = torch.softmax(scores.float().masked_fill(mask, -10000.0), -1).to(q.dtype)
        return torch.bmm(shares, v).view(batch, heads, rows, -1).permute(2, 0, 1, 3).reshape(rows, batch, -1)


class Duplicated(torch.nn.Module):
    """A linear layer that each tensor rank has whole, as Transformer Engine's (parallel_mode="duplicated")."""

    def __init__(self, input_size, output_size, *, config, init_method, bias=False, **others):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.empty(output_size, input_size, device="cuda", dtype=config.params_dtype))
        init_method(self.weight)
        self.weight.sequence_parallel = config.sequence_parallel

    def forward(self, rows):
        return torch.nn.functional.linear(rows, self.weight), None


def use_norm(spec):
    """Puts Norm in place of the norms of a layer's specification."""
    for part in ("input_layernorm", "pre_mlp_layernorm"):
        if hasattr(spec.submodules, part) and getattr(spec.submodules, part) is not None:
            setattr(spec.submodules, part, Norm)
    inner = spec.submodules.self_attention.submodules
    for part in ("q_layernorm", "k_layernorm", "kv_layernorm"):
        if "Norm" in getattr(getattr(inner, part, None), "__name__", ""):
            setattr(inner, part, Norm)
    if o.mla:
        inner.core_attention = LatentCore
        inner.linear_q_down_proj = inner.linear_kv_down_proj = Duplicated
    return spec


def make_config():
    shape = dict(num_layers=o.layers, hidden_size=o.hidden, num_attention_heads=o.heads, ffn_hidden_size=o.ffn)
    if o.llama:
        shape.update(normalization="RMSNorm", gated_linear_unit=True, activation_func=torch.nn.functional.silu, add_bias_linear=False)
    if o.qk_norm:
        shape.update(qk_layernorm=True)
    if o.kv_heads != o.heads:
        shape.update(num_query_groups=o.kv_heads)
    if o.experts:
        shape.update(num_moe_experts=o.experts, moe_router_topk=o.topk, moe_ffn_hidden_size=o.expert_ffn, moe_grouped_gemm=False,
                     moe_token_dispatcher_type=o.dispatcher, moe_router_load_balancing_type="aux_loss", moe_aux_loss_coeff=0.01,
                     moe_shared_expert_intermediate_size=o.shared_ffn or None)
    if o.recompute == "selective":
        shape.update(recompute_granularity="selective", recompute_modules=o.modules.split(","))
    elif o.recompute == "full":
        shape.update(recompute_granularity="full", recompute_method=o.method, recompute_num_layers=o.repeated)
    if o.first_stage:
        shape.update(num_layers_in_first_pipeline_stage=o.first_stage)
    make = TransformerConfig
    if o.mla:
        make = MLATransformerConfig
        shape.update(qk_layernorm=True, q_lora_rank=192, kv_lora_rank=128, qk_head_dim=64, qk_pos_emb_head_dim=32, v_head_dim=64,
                     rope_type="rope")
    return make(**shape, tensor_model_parallel_size=o.tensor, pipeline_model_parallel_size=o.pipeline,
                virtual_pipeline_model_parallel_size=o.virtual if o.virtual > 1 else None, context_parallel_size=o.context,
                expert_model_parallel_size=o.expert, sequence_parallel=bool(o.sequence_parallel), bf16=True,
                params_dtype=torch.bfloat16, pipeline_dtype=torch.bfloat16, gradient_accumulation_fusion=False,
                masked_softmax_fusion=False, bias_dropout_fusion=True, bias_activation_fusion=True, apply_rope_fusion=False,
                hidden_dropout=o.dropout, attention_dropout=o.dropout, overlap_p2p_comm=bool(o.overlap_p2p),
                batch_p2p_comm=not o.overlap_p2p, deallocate_pipeline_outputs=True)


def make_models(config):
    chunks = []
    for chunk in range(o.virtual):
        at = dict(ignore_virtual=False, vp_stage=chunk if o.virtual > 1 else None)
        spec = use_norm(get_gpt_layer_local_spec(
            num_experts=o.experts or None, moe_grouped_gemm=False, multi_latent_attention=bool(o.mla), qk_layernorm=bool(o.mla or o.qk_norm),
            normalization=config.normalization))
        count = get_num_layers_to_build(config, vp_stage=at["vp_stage"])
        block = TransformerBlockSubmodules(layer_specs=[spec] * count, layer_norm=Norm)
        model = GPTModel(config, block, o.vocab, o.sequence, pre_process=state.is_pipeline_first_stage(**at),
                         post_process=state.is_pipeline_last_stage(**at),
                         position_embedding_type="rope" if o.llama or o.mla else "learned_absolute",
                         share_embeddings_and_output_weights=bool(o.tied), vp_stage=at["vp_stage"])
        model.model_type = None
        chunks.append(Float16Module(config, model.cuda()))
    ddp = DistributedDataParallelConfig(overlap_grad_reduce=bool(o.grad_reduce), overlap_param_gather=bool(o.param_gather),
                                        use_distributed_optimizer=bool(o.distributed_optimizer), check_for_nan_in_grad=True,
                                        grad_reduce_in_fp32=True, bucket_size=o.bucket or None,
                                        num_distributed_optimizer_instances=o.instances)
    chunks = [DistributedDataParallel(config, ddp, chunk, disable_bucketing=i > 0) for i, chunk in enumerate(chunks)]
    config.finalize_model_grads_func = finalize_model_grads
    if o.grad_reduce:
        config.no_sync_func = [chunk.no_sync for chunk in chunks] if len(chunks) > 1 else chunks[0].no_sync
    return chunks


def to_tensor_group(tensor):
    if o.tensor > 1:
        torch.distributed.broadcast(tensor, state.get_tensor_model_parallel_src_rank(), group=state.get_tensor_model_parallel_group())
    return tensor


def make_batch(at):
    """What a stage needs, sent by the first tensor rank as Megatron-LM's get_batch_on_this_tp_rank does."""
    shape = (o.micro_batch, o.sequence)
    first, last = state.is_pipeline_first_stage(**at), state.is_pipeline_last_stage(**at)
    whole = o.pipeline == 1
    tokens = labels = mask = positions = None
    if first or whole:
        tokens = to_tensor_group(torch.randint(0, o.vocab, shape).cuda(non_blocking=True))
    if last or whole:
        labels = to_tensor_group(torch.randint(0, o.vocab, shape).cuda(non_blocking=True))
        mask = to_tensor_group(torch.ones(shape, dtype=torch.float32).cuda(non_blocking=True))
    if first or whole:
        positions = to_tensor_group(torch.arange(o.sequence)[None].expand(shape).contiguous().cuda(non_blocking=True))
    return tokens, labels, mask, positions


def loss_of(mask, output):
    losses = output.float().view(-1)
    total = (losses * mask.view(-1)).sum()
    tokens = mask.sum().to(torch.int)
    return total / tokens, {"lm loss": torch.cat([total.detach().view(1), tokens.view(1).float()])}


def forward_step(_, model):
    at = dict(ignore_virtual=False, vp_stage=model.module.module.vp_stage if o.virtual > 1 else None)
    tokens, labels, mask, positions = make_batch(at)
    return model(tokens, positions, None, labels=labels), partial(loss_of, mask)


def train_step(models, optimizer):
    rerun = get_rerun_state_machine()
    while rerun.should_run_forward_backward(None):
        for model in models:
            model.zero_grad_buffer()
        optimizer.zero_grad()
        losses = get_forward_backward_func()(
            forward_step_func=forward_step, data_iterator=[None] * len(models) if len(models) > 1 else None,
            model=models if len(models) > 1 else models[0], num_microbatches=o.micro_batches, seq_length=o.sequence,
            micro_batch_size=o.micro_batch, decoder_seq_length=o.sequence, forward_only=False)
    rerun.should_checkpoint_and_exit()
    done, norm, _ = optimizer.step()
    # training.py: logical_and_across_model_parallel_group, reduce_max_stat_across_model_parallel_group.
    group = state.get_model_parallel_group()
    done = torch.tensor([int(done)], dtype=torch.int, device="cuda")
    torch.distributed.all_reduce(done, op=torch.distributed.ReduceOp.MIN, group=group)
    done.item()
    norm = torch.tensor([norm], dtype=torch.float, device="cuda")
    torch.distributed.all_reduce(norm, op=torch.distributed.ReduceOp.MAX, group=group)
    norm.item()
    if losses:
        value = torch.stack([each["lm loss"] for each in losses]).sum(dim=0)
        torch.distributed.all_reduce(value, group=state.get_data_parallel_group(with_context_parallel=True))


def main():
    if o.mla:
        import megatron.core.transformer.multi_latent_attention as latent
        latent.TELinear = Duplicated  # without Transformer Engine the name is of no type
    if o.experts:
        import megatron.core.transformer.moe.moe_utils as utilities
        if not hasattr(utilities, "te_general_gemm"):
            utilities.te_general_gemm = None  # without Transformer Engine the name is missing
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    torch.distributed.init_process_group("nccl")
    state.initialize_model_parallel(o.tensor, o.pipeline, virtual_pipeline_model_parallel_size=o.virtual if o.virtual > 1 else None,
                                    context_parallel_size=o.context, expert_model_parallel_size=o.expert,
                                    num_distributed_optimizer_instances=o.instances)
    model_parallel_cuda_manual_seed(1234)
    initialize_rerun_state_machine(mode=RerunMode.VALIDATE_RESULTS)
    config = make_config()
    models = make_models(config)
    optimizer = get_megatron_optimizer(
        OptimizerConfig(optimizer="adam", lr=1e-4, bf16=True, params_dtype=torch.bfloat16, clip_grad=1.0,
                        use_distributed_optimizer=bool(o.distributed_optimizer), overlap_param_gather=bool(o.param_gather)), models)
    config.grad_scale_func = optimizer.scale_loss
    if o.param_gather and len(models) > 1:
        config.param_sync_func = [model.start_param_sync for model in models]
    for i in range(o.iterations):
        torch.cuda.reset_peak_memory_stats()
        with torch.profiler.record_function(f"iteration {i}"):
            train_step(models, optimizer)
    print("peak", torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved(), flush=True)


main()
