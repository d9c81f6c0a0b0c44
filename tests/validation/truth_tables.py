"""What import_truth.py knows of sources: names of models and systems, and what recipes turn on that their tables leave out."""

# GPU: the cluster file, its host, GPUs of a host (a rack is one host of 72).
CLUSTERS = {
    "A100": ("selene", "dgx-a100-80g", 8),
    "H100": ("eos", "dgx-h100", 8),
    "H200": ("dgx-h200-8", "dgx-h200", 8),
    "B200": ("dgx-b200-8", "dgx-b200", 8),
    "B300": ("dgx-b300-8", "dgx-b300", 8),
    "GB200": ("gb200-nvl72-2", "gb200-nvl72", 72),
    "GB300": ("gb300-nvl72-2", "gb300-nvl72", 72),
}

# Models whose layers are not all attention and MLP, and what they wait for.
HYBRID = {
    "nemotron-h-56b": [],
    "nemotron-3-nano": [],
    "nemotron-3-super": [],
    "nemotron-3-ultra": ["a shape that is published"],
    "nemotron-3.5-lightning": [],
    "qwen3-next-80b": [],
}

BRIDGE_MODELS = {
    "DeepSeekV3": "deepseek-v3", "GPT OSS 120B": "gpt-oss-120b", "Kimi_K2": "kimi-k2", "LLAMA3.1_405B": "llama-3.1-405b",
    "LLAMA3_70B": "llama-3-70b", "LLAMA3_8B": "llama-3-8b", "Nemotron_3_5_Lightning": "nemotron-3.5-lightning",
    "Nemotron_3_Nano": "nemotron-3-nano", "Nemotron_3_Super": "nemotron-3-super", "Qwen3_235B_a22B": "qwen3-235b-a22b",
    "Qwen3_30B_a3B": "qwen3-30b-a3b",
}
DGXC_MODELS = {
    "grok1 314b": "grok-1", "llama3.1 405b": "llama-3.1-405b", "llama3.1 70b": "llama-3-70b", "llama3.1 8b": "llama-3-8b",
    "llama4 400b": "llama-4-maverick", "nemo_megatron": "gpt-3-175b", "nemotron 340b": "nemotron-4-340b",
    "nemotronh 56b": "nemotron-h-56b",
}
NEMO_MODELS = {
    "GPT3-175B": "gpt-3-175b", "GPT3-5B": "gpt-3-5b", "LLAMA2-13B": "llama-2-13b", "LLAMA2-7B": "llama-2-7b",
    "LLAMA3-8B": "llama-3-8b", "Nemotron-22B": "nemotron-3-22b", "Nemotron-340B": "nemotron-4-340b",
}
MLPERF_MODELS = {"llama2_70b_lora": "llama-2-70b", "llama31_405b": "llama-3.1-405b", "llama31_8b": "llama-3-8b"}
OTHER_MODELS = {
    "GPT-OSS 120B": "gpt-oss-120b", "GPT-OSS 20B": "gpt-oss-20b", "Kimi K2": "kimi-k2", "Llama 3.1 70B": "llama-3-70b",
    "Llama 3.1 8B": "llama-3-8b", "Llama3 70B": "llama-3-70b", "Llama3 8B": "llama-3-8b",
    "Nemotron V3 Nano 30B": "nemotron-3-nano", "Nemotron V3 Ultra 550B": "nemotron-3-ultra", "Qwen2.5 32B": "qwen-2.5-32b",
    "Qwen3 MoE 30B": "qwen3-30b-a3b", "Qwen3-235B-A22B": "qwen3-235b-a22b", "Qwen3-30B-A3B": "qwen3-30b-a3b",
    "Qwen3-Next-80B-A3B": "qwen3-next-80b",
}


def last_stage_shorter(end):
    """Layouts of 61 layers by (stages, chunks): recipes/deepseek/deepseek_v3.py and recipes/kimi/kimi_k2.py of Megatron-Bridge."""
    of = {16: f"E{'t' * 16}|{'t' * 16}|{'t' * 16}|{'t' * 13}{end}", 8: f"E{'t' * 8}|({'t' * 8}|)*6{'t' * 5}{end}",
          4: f"Etttt|(tttt|)*14t{end}"}
    return {(4, 1): of[16], (8, 1): of[8], (4, 2): of[8], (16, 1): of[4], (8, 2): of[4], (4, 4): of[4], (2, 8): of[4]}


LAYOUTS = {"deepseek-v3": last_stage_shorter("mL"), "kimi-k2": last_stage_shorter("L")}

# Backends of the flex dispatcher (moe_flex_dispatcher_backend), and values of `moe_dispatcher`.
FLEX_BACKENDS = {"deepep": "flex", "hybridep": "hybridep"}

# Gradient buckets of 128 Mi elements: _get_optimizer_overlap_cfgs of Megatron-Bridge (src/megatron/bridge/training/
# comm_overlap.py) and of NeMo 2, and BUCKET_SIZE in conf/custom.yaml of MLPerf's submissions.
BUCKETS = {"training": {"bucket_elements": 128 * 2**20}}

# Names of modules in recipes, and of `recompute_modules`.
RECOMPUTED = {name: name for name in ("core_attn", "layernorm", "moe_act", "mlp", "moe", "shared_experts", "mla_up_proj")}

# scripts/performance/utils/overrides.py and perf_recipes/_common.py of Megatron-Bridge v0.6.0: gradients are not checked and
# are reduced in bf16, the loss is Transformer Engine's.
BRIDGE_TRAINING = {"training": {"gradient_type": "bf16", "cross_entropy_fusion": "te", "check_gradients": False}}
# moe_router_fusion of the same files, by model: set_qwen3_common_configs, set_gpt_oss_common_configs, deepseek_v3_llm_pretrain.
BRIDGE_FUSED_ROUTERS = ["deepseek-v3", "gpt-oss-120b", "qwen3-30b-a3b", "qwen3-235b-a22b"]
# Formats of linear layers beside NVFP4: set_nemotron_3_super_common_configs of nemotron_3_llm_pretrain.py, and te_quant.cfg,
# in scripts/performance/configs/nemotronh of Megatron-Bridge v0.4.0 to v0.6.0.
BRIDGE_NVFP4 = {
    "nemotron-3-super": {"bf16_layers_at_end": 14, "bf16_linears": ["qkv", "proj", "latent", "mtp"],
                         "mxfp8_linears": ["mamba_out"]},
}
# SMs of HybridEP's kernels where a recipe does not say: utils/overrides.py (v0.2.0 to v0.5.0) and perf_recipes/_common.py
# (v0.6.0) set moe_hybridep_num_sms for each run with HybridEP.
BRIDGE_HYBRIDEP_SMS = 32
# What recipes of v0.6.0 give to set_cuda_graph_modules, by model: perf_recipes/nemotronh/gb200/nemotronh.py.
BRIDGE_GRAPH_MODULES = {"nemotron-3.5-lightning": ["attn", "mamba", "moe_router", "moe_preprocess"]}
# What recipes with Megatron-FSDP set beyond it: configs/llama3/llama3_llm_pretrain.py of v0.2.0 to v0.5.0. User buffers bring
# two buffers; Drydock has no expansion of NCCL's symmetric kernels, so that they count as registered.
FSDP = {"megatron_fsdp": {"sharding": "optim_grads_params"}}
BRIDGE_FSDP = {
    "llama-3-8b": {"training": {"gradient_accumulation_fusion": False, "gradient_buffers": "registered"},
                   "megatron_fsdp": {"double_buffer": True}},
    "llama-3-70b": {"training": {"gradient_accumulation_fusion": False},
                    "megatron_fsdp": {"double_buffer": True, "communication_elements": 800000000}},
}
# Kimi's optimizer: distributed_muon_with_cosine_annealing (recipes/utils/optimizer_utils.py) and configs/kimi/kimi_llm_pretrain.py
# of v0.3.0 to v0.5.0, which turn off the gathers of parameters beside forward and in fp8.
KIMI_MUON = {"training": {"optimizer": "muon", "muon_layout": False, "muon_tensor_mode": "blockwise", "muon_nesterov": True,
                          "quantized_param_gather": False},
             "overlap": {"param_gather": False}}
# Megatron-Bridge's tables of container 25.09 name no recipe of the tag. `cuda_graphs: true` in the perf_matrix of
# scripts/performance/configs/*/*_llm_pretrain.yaml (commits 0aa7db37, 48b5204a, 11d3a36e), which captures each layer.
# deepseek_v3_llm_pretrain.yaml has graphs beside the layouts of September with tensor parallelism alone (0aa7db37, 3aad5d37);
# with the table's layout (2a932de8 to v0.1.0rc4), `cuda_graphs: false`.
BRIDGE_25_09_GRAPHS = [("llama-3-8b", "B200"), ("llama-3-8b", "GB200"), ("qwen3-30b-a3b", "GB200"), ("qwen3-235b-a22b", "GB200")]
# scripts/performance/run_script.py of v0.1.0rc4: recompute_modules of runs that drop tokens.
BRIDGE_25_09_RECOMPUTED = {"deepseek-v3": ["mla_up_proj"]}
# DeepSeekModelProvider and recipes/deepseek/deepseek_v3.py of each release set moe_shared_expert_overlap. HybridEP, DeepEP
# (flex_dispatcher_backend.py) and the overlap of the exchange (overrides.py) turn it off.
BRIDGE_SHARED_OVERLAP = ["deepseek-v3"]
# scripts/performance/configs/*/*_llm_pretrain.py of v0.2.1: overlap_param_gather = False for runs in MXFP8 ("causes NaN grad
# norm"), by model and GPU. Later releases leave it on.
BRIDGE_25_11_SERIAL_GATHER = [("llama-3-70b", "B200"), ("llama-3-70b", "GB200"), ("llama-3-70b", "GB300"), ("llama-3.1-405b", "B200"),
                              ("llama-3.1-405b", "GB200"), ("llama-3.1-405b", "GB300"), ("qwen3-235b-a22b", "B200"),
                              ("deepseek-v3", "GB200"), ("deepseek-v3", "GB300")]
# set_nemotron_3_super_common_configs of v0.4.0 and v0.5.0: moe_router_padding_for_quantization in MXFP8 and NVFP4.
BRIDGE_ROUTER_PADDING = ["nemotron-3-super"]

# NeMo's configurations for these benchmarks: gradients in bf16 (grad_sync_dtype; grad_reduce_in_fp32=False), not checked.
NEMO_TRAINING = {"training": {"gradient_type": "bf16", "check_gradients": False}}
NATIVE_LOSS = {"cross_entropy_fusion": "native"}  # cross_entropy_loss_fusion
PADDED_EXPERTS = {"moe_dispatcher": "alltoall", "moe_capacity_factor": 1, "moe_pad_to_capacity": True, "moe_grouped_gemm": False}
# NeMo 1: NVIDIA/dgxc-benchmarking v25.02, grok1_314b.yaml, llama3.1_70b.yaml, nemotron4-340b-synth.yaml.
NEMO_1 = {
    "grok-1": {"training": PADDED_EXPERTS},
    "llama-3-8b": {"training": NATIVE_LOSS},
    "llama-3-70b": {"training": NATIVE_LOSS},
    "nemotron-4-340b": {"training": {**NATIVE_LOSS, "recompute": "selective"}},
}
# NeMo 2: nemo/collections/llm/recipes and scripts/performance/llm; Grok's experts as in the release before.
NEMO_2 = {
    "grok-1": {"training": {**PADDED_EXPERTS, **NATIVE_LOSS}},
    "llama-3-8b": {"training": NATIVE_LOSS},
    "llama-3-70b": {"training": NATIVE_LOSS},
    "llama-3.1-405b": {"training": NATIVE_LOSS},
    "llama-4-maverick": {"training": NATIVE_LOSS},
    "nemotron-4-340b": {"training": NATIVE_LOSS},
}

# Adapters. MLPerf's rules state rank 16, dropout 0.1 and attention's four projections; NVIDIA's configurations set LORA_A2A.
# NeMo 24.07 (megatron_gpt_finetuning_config.yaml) and Megatron-Bridge (scripts/performance) adapt linear_qkv alone.
MLPERF_LORA = {"model": {"lora_rank": 16, "lora_targets": ["linear_qkv", "linear_proj"], "lora_dropout": 0.1}}
# What the configurations turn on beyond the table (mlcommons/training_results_v5.1 @4da2d1cd). The first line that fits a row's
# "round benchmark GPU submitter" counts; where a submitter's own file is not public, NVIDIA's common settings are taken.
# LoRA: conf/megatron_gpt_peft_tuning_config.yaml (fp8 weights alone; exchange of contexts by heads), common settings of Dell and
# Krai (FP8_DPA, USE_TE_OPS), Cisco's for H100s (container 24.09: LAYER_CUDA_GRAPH, no FP8_DPA). Without tensor and context
# parallelism, FP8_ACT. 8B and 405B: conf/custom.yaml, config_common_8b.sh and config_common_cg.sh.
FP8_ATTENTION = {"fp8_attention": True}
MLPERF_RECIPES = [
    (r"llama2_70b_lora .*H100", {"training": {"quantized_param_gather": True, "cuda_graphs": "layers"}}),
    (r"v5.0 llama2_70b_lora", {"training": {"quantized_param_gather": True, **FP8_ATTENTION}}),
    (r"v5.1 llama2_70b_lora .*H200", {"training": {"quantized_param_gather": True, **FP8_ATTENTION},
                                      "parallel": {"context_type": "a2a"}}),
    (r"v5.1 llama2_70b_lora", {"training": {"quantized_param_gather": True, "fused_ops": True, **FP8_ATTENTION},
                               "parallel": {"context_type": "a2a"}}),
    (r"llama31_8b .*H100", {"training": {"quantized_param_gather": True, **BUCKETS["training"]}}),
    (r"v5.1 llama31_8b", {"training": {"quantized_param_gather": True, "fp8_recipe": "tensorwise", "fused_ops": True,
                                       "cross_entropy_fusion": "te", "cuda_graphs": "full_iteration", **BUCKETS["training"]}}),
    (r"v5.1 llama31_405b", {"training": {"fp8_recipe": "tensorwise", "cross_entropy_fusion": "native", **BUCKETS["training"]}}),
    (r"v5.0 llama31_405b", {"training": BUCKETS["training"]}),
]
# Keys of these lines that are fp8's.
MLPERF_FP8 = ["quantized_param_gather", "fp8_attention", "fp8_recipe", "fused_ops"]
NEMO_LORA = {"model": {"lora_rank": 32, "lora_targets": ["linear_qkv"]}}
BRIDGE_LORA = {"model": {"lora_rank": 16, "lora_targets": ["linear_qkv"]}}

# What arguments of Megatron-LM wait for: a pattern of "--name" or "--name value".
CI_NEEDS = [
    (r"--check-weight-hash-across-dp-replicas-interval 1", "hashes of weights in each step"),
    (r"--perform-rl-step", "reinforcement learning"),
    (r"--decoder-num-layers", "encoders with decoders (T5)"),
    (r"--use-torch-fsdp2", "FSDP2 in Megatron-LM"),
    (r"--export-kd-cfg", "distillation"),
    (r"--model-provider|--img-h", "images"),
]

# Runs that wait for their data: four GB200 of these recipes take 2.5 to 19 times as long as eight on two hosts. Whatever the
# layout, an iteration takes 50 to 70 ms for each sample that a rank reads, while the shortest iteration of a run that reads
# least is as short as a launch-bound one (0.141 s, predicted 0.141 s without this). Each sample has an attention mask of
# sequence x sequence, which the loader's processes make; the run with --no-create-attention-mask-in-dataloader has even
# iterations. The time is the median of a random half of the rows (those whose path has an even SHA-1; 16 rows).
CI_LATE_DATA = {f"tests/test_utils/recipes/gb200/{family}-1node.yaml" for family in ("gpt", "moe", "nemotron")}
CI_SAMPLE_TIME = "60ms"

# simu_tools/megatron_scripts/scripts/run_pretrain_llama3.sh and run_pretrain_deepseekv2.sh of SimuMax, and EXTRA_ARGS of
# tools/b200. The scripts ask for the full recomputation of the first 0 layers, which is none. The cases ("_cef") fuse the loss.
SIMUMAX_ARGUMENTS = """--norm-epsilon 1e-5 --attention-dropout 0.0 --hidden-dropout 0.0 --disable-bias-linear
--position-embedding-type rope --no-position-embedding --swiglu --normalization RMSNorm --untie-embeddings-and-output-weights
--use-mcore-models --no-bias-dropout-fusion --use-distributed-optimizer --use-flash-attn --sequence-parallel
--distributed-backend nccl --mock-data --clip-grad 1.0 --bf16 --attention-softmax-in-fp32 --no-masked-softmax-fusion
--accumulate-allreduce-grads-in-fp32 --tokenizer-type NullTokenizer --no-create-attention-mask-in-dataloader --log-interval 1
--log-throughput --transformer-impl transformer_engine --no-overlap-p2p-communication --cross-entropy-loss-fusion
--cross-entropy-fusion-impl te""".split()


def simumax_llama(hidden, ffn, heads, groups):
    return ["--hidden-size", hidden, "--ffn-hidden-size", ffn, "--num-attention-heads", heads, "--group-query-attention",
            "--num-query-groups", groups, "--vocab-size", "128256"]


SIMUMAX_LATENT = """--multi-latent-attention --q-lora-rank 1536 --kv-lora-rank 512 --qk-head-dim 128 --qk-pos-emb-head-dim 64
--v-head-dim 128 --rotary-scaling-factor 1 --enable-experimental --qk-layernorm --num-attention-heads 128""".split()
SIMUMAX_MODELS = {
    "llama3-70b": simumax_llama("8192", "28672", "64", "8"),
    "llama3-405b": simumax_llama("16384", "53248", "128", "16"),
    "deepseekv2": [*SIMUMAX_LATENT, "--hidden-size", "5120", "--ffn-hidden-size", "12288", "--vocab-size", "102400"],
    "deepseekv3": [*SIMUMAX_LATENT, "--hidden-size", "7168", "--ffn-hidden-size", "18432", "--vocab-size", "129280"],
}
SIMUMAX_ROUTER = """--moe-token-dispatcher-type alltoall --moe-router-score-function softmax --moe-router-group-topk 3
--moe-router-load-balancing-type seq_aux_loss --moe-router-pre-softmax --moe-router-topk-scaling-factor 16 --moe-aux-loss-coeff
3e-3 --moe-expert-capacity-factor 1 --moe-grouped-gemm --moe-permute-fusion --moe-pad-expert-input-to-capacity""".split()
SIMUMAX_EXPERTS = {
    "deepseekv2": [*SIMUMAX_ROUTER, "--num-experts", "160", "--moe-router-topk", "6", "--moe-ffn-hidden-size", "1536",
                   "--moe-shared-expert-intermediate-size", "3072"],
    "deepseekv3": [*SIMUMAX_ROUTER, "--num-experts", "256", "--moe-router-topk", "8", "--moe-ffn-hidden-size", "2048",
                   "--moe-shared-expert-intermediate-size", "2048"],
}

# What single tables say beside a row, or the command below their table: a pattern of its words, keys of model.yaml, features.
ROUTER_GRAPHS = {"cuda_graphs": ["moe_router", "moe_preprocess"]}
HYBRID_EP = {"training": {"moe_dispatcher": "hybridep"}}
EXPERT_OVERLAP = {"overlap": {"expert": True, "delay_weight_gradients": True}}
OTHER_RECIPES = [
    (r"dispatcher DeepEP", {"training": {"moe_dispatcher": "flex"}}, []),
    (r"dispatcher A2A", {"training": {"moe_dispatcher": "alltoall"}}, []),
    (r"recompute full", {"training": {"recompute": "full"}}, []),
    (r"recompute norm, act;", {"training": {"recompute": "selective", "recompute_modules": ["layernorm", "moe_act"]}}, []),
    (r"recompute norm, act, shared_expert",
     {"training": {"recompute": "selective", "recompute_modules": ["layernorm", "moe_act", "shared_experts"]}}, []),
    (r"HybridEP", HYBRID_EP, []),
    (r"CUDA graphs moe_router", {"training": ROUTER_GRAPHS}, []),
    (r"with(out)? EP overlap", HYBRID_EP, []),  # the run above with one setting changed
    (r"with(out)? EP overlap", {"training": ROUTER_GRAPHS}, []),
    (r"(SMs,|with) EP overlap", {"overlap": {"expert": True}}, []),  # "Delayed wgrad: disabled"
    # yanring/Megatron-MoE-ModelZoo @e8650517 best_practice/qwen3/readme.md, commands at lines 40, 68, 74, 80 and 103
    (r"Megatron-Core; H100; .*launch command",
     {"training": {"moe_dispatcher": "flex", "recompute": "selective", "recompute_modules": ["layernorm", "moe"]}}, []),
    (r"Megatron-Core; GB.*launch command", HYBRID_EP, []),
    (r"Megatron-Core; GB.*sequence 4096; .*launch command",
     {"training": {"cuda_graphs": ["attn", "moe_router", "moe_preprocess"]}}, []),
    (r"long context|activation offloading",
     {"training": {"recompute": "selective", "recompute_modules": ["moe_act", "layernorm"]}}, []),
    (r"activation offloading|Megatron-Core; GB300", EXPERT_OVERLAP, []),
    (r"activation offloading", {"training": {"offload_modules": ["expert_fc1", "moe_act"]}}, []),
    (r"Primus", {}, ["ROCm and RCCL"]),
]

HEADS = {
    "megatron-bridge": [
        "title: NVIDIA 2025 and 2026, Megatron-Bridge performance tables, H100 to GB300",
        "source: github NVIDIA-NeMo/Megatron-Bridge 067f987d, performance-summary.md and -archive.md (containers 25.09 to",
        "  26.08) with the recipes of scripts/performance and perf_recipes at each release's tag. The time is the tokens of a step",
        "  over the printed tokens per second; tables of 26.04.01, 26.06.01 and 26.08 round those by up to 0.5 %",
        "tier: D",
    ],
    "dgxc-h100-gb200": [
        "title: NVIDIA 2024 and 2025, DGX Cloud benchmark recipes, H100 and GB200",
        "source: github NVIDIA/dgxc-benchmarking, tags v24.11.1 to v25.05.02, README files beside the recipes. A time that a later",
        "  release repeats stays with the release that printed it first",
        "tier: D",
    ],
    "mlperf-5": [
        "title: MLPerf Training v5.0 and v5.1, language models on NVIDIA GPUs",
        "source: github mlcommons/training_results_v5.0 0fdc28f0 and _v5.1 441d65f4. The time is the median of train_step_time in",
        "  the logs, or the batch over the median of the logged throughput; the layout is that of the submission's configuration",
        "tier: D",
    ],
    "megatron-ci": [
        "title: NVIDIA 2026, Megatron-LM's functional tests, small models on A100, H100 and GB200",
        "source: github NVIDIA/Megatron-LM d98e8a64, tests/functional_tests/test_cases, golden values: the median of",
        "  iteration-time over the second half of the steps, and mem-max-allocated-bytes of the last rank. Every argument of the",
        "  test's model_config.yaml is in `arguments`, except for places of files",
        "tier: D",
    ],
    "simumax-b200": [
        "title: SimuMax 2026, Megatron-LM on 8 B200, beside SimuMax's own predictions",
        "source: github MooreThreads/SimuMax 4dcaae51, docs/b200/b200_release_v1.2_summary.json; arguments from",
        "  simu_tools/megatron_scripts. Rival: SimuMax 1.2's prediction of the same case. Memory is the peak that PyTorch allocates",
        "  on the fullest rank",
        "tier: D",
    ],
    "nemo-24.07": [
        "title: NVIDIA 2024, NeMo 24.07 performance tables on H100, fp8",
        "source: github NVIDIA/NeMo, docs/source/performance/performance_summary.md at five commits. The time is the tokens of a",
        "  step over the printed tokens per second",
        "tier: D",
    ],
    "single-tables": [
        "title: 2025 and 2026, single tables: AutoModel, Megatron MoE zoo, Megatron-Bridge, torchtitan, Primus",
        "source: github NVIDIA-NeMo/Automodel 36044ad3, yanring/Megatron-MoE-ModelZoo e8650517, NVIDIA-NeMo/Megatron-Bridge",
        "  067f987d, pytorch/torchtitan b5bcd76c, AMD-AGI/Primus fd1eeabb. Where a table prints TFLOP/s alone, the time is the",
        "  FLOPs of a step as Megatron-LM counts them over that rate",
        "tier: D",
    ],
}
