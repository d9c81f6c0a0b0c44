#!/usr/bin/env python3
"""Makes records (training/*.csv) from tables of measured runs.

Usage: import_truth.py DIR

DIR holds the tables: megatron_bridge_perf.csv and _full.json, dgxc_benchmarking.csv, mlperf_training_llm_v5.0_v5.1.csv,
megatron_lm_ci_full_args.json, simumax_b200_measured_vs_predicted.csv, nemo_performance_summary.csv and other_training.csv.
The same tables give the same records, byte by byte.

A recipe's key becomes a key of model.yaml, and a GPU and system a cluster, by the rules of this file. No rule is for one row.
What a source does not state is filled by a rule that has a name (training_records.RULES). What the product does not express
becomes a name in the column `needs`: such a row is shown and not predicted.
"""
import csv
import json
import pathlib
import re
import shlex
import sys

from truth_tables import (BRIDGE_25_09_GRAPHS, BRIDGE_25_09_RECOMPUTED, BRIDGE_25_11_SERIAL_GATHER, BRIDGE_FSDP,
                          BRIDGE_FUSED_ROUTERS, BRIDGE_GRAPH_MODULES, BRIDGE_HYBRIDEP_SMS, BRIDGE_LORA, BRIDGE_MODELS,
                          BRIDGE_NVFP4, BRIDGE_ROUTER_PADDING, BRIDGE_SHARED_OVERLAP, BRIDGE_TRAINING, BUCKETS,
                          CI_LATE_DATA, CI_NEEDS, CI_SAMPLE_TIME, CLUSTERS, DGXC_MODELS, FLEX_BACKENDS, FSDP, HEADS,
                          HYBRID, KIMI_MUON, LAYOUTS, MLPERF_FP8, MLPERF_LORA, MLPERF_MODELS, MLPERF_RECIPES, NEMO_1,
                          NEMO_2, NEMO_LORA, NEMO_MODELS, NEMO_TRAINING, OTHER_MODELS, OTHER_RECIPES, RECOMPUTED,
                          SIMUMAX_ARGUMENTS, SIMUMAX_EXPERTS, SIMUMAX_MODELS)

HERE = pathlib.Path(__file__).resolve().parent
RECORDS = HERE / "training"
COLUMNS = ["model", "kind", "cluster", "settings", "arguments", "seconds", "memory_gib", "memory_of", "rival_seconds",
           "rival_memory_gib", "assumed", "needs", "where"]
RACK, USED_OF_RACK = 72, 64  # GPUs of an NVLink domain of 72, and how many a run takes that does not fill such domains


class Row:
    """One record in the making."""

    def __init__(self, model, where):
        self.model, self.where = model, where
        self.cluster, self.kind = "", "dense"
        self.settings, self.assumed, self.needs, self.arguments = {}, [], [], []
        self.seconds = 0.0
        self.memory, self.memory_of, self.rival_seconds, self.rival_memory = "", "", "", ""

    def set(self, **keys):
        """Sets keys of a section: set(parallel={"tensor": 8}). A value of None is not stated."""
        for section, values in keys.items():
            for key, value in values.items():
                if value is not None:
                    self.settings[f"{section}.{key}"] = text_of(value)

    def need(self, *features):
        self.needs += [feature for feature in features if feature not in self.needs]

    def assume(self, *rules):
        self.assumed += [rule for rule in rules if rule not in self.assumed]

    def identity(self):
        """What makes two rows the same run."""
        return (self.model, self.cluster, tuple(sorted(self.settings.items())), tuple(self.arguments), f"{self.seconds:.6g}")

    def cells(self):
        model = f"./models/{self.model}.yaml" if (RECORDS / "models" / f"{self.model}.yaml").exists() else self.model
        settings = " ".join(f"{key}={value}" for key, value in self.settings.items())
        return [model, self.kind, self.cluster, settings, shlex.join(self.arguments), f"{self.seconds:.6g}", self.memory,
                self.memory_of, self.rival_seconds, self.rival_memory, "; ".join(self.assumed), "; ".join(self.needs), self.where]


def text_of(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return f"[{','.join(value)}]"
    return str(value)


def number(cell):
    """A whole number of a cell; None if the cell is empty or says that the thing is not used."""
    match = re.fullmatch(r"\d+(\.0)?", cell or "")
    return int(float(cell)) if match else None


def place(row, repository="repo"):
    line = f" line {row['line']}" if row.get("line") else ""
    return f"{row[repository]} @{row['commit'][:8]} {row['path']}{line}"


def set_cluster(row, gpu, gpus):
    """The system of a GPU with as many hosts, or racks, as the run has."""
    if gpu not in CLUSTERS:
        return row.need(f"GPU {gpu}")
    row.cluster, host, size = CLUSTERS[gpu]
    row.assume("system")
    if size < RACK:
        if gpus >= size:
            return row.set(cluster={"hosts": gpus // size})
        return row.set(cluster={"hosts": 1}, hosts={f"{host}.gpus": gpus})
    used = gpus if gpus <= RACK else RACK if gpus % RACK == 0 else USED_OF_RACK
    if used not in (gpus, RACK):
        row.assume("rack")
    row.set(cluster={"hosts": gpus // used}, hosts={f"{host}.gpus": used, f"{host}.trays": -(-used // 4),
                                                    f"{host}.nics.count": used})


def set_layout(row, tensor, pipeline, context=None, chunks=None, expert=None, expert_tensor=None):
    """Megatron's layout. Without a pipeline there are no chunks; sequence parallelism goes with tensor parallelism."""
    chunks = chunks if pipeline and pipeline > 1 else None
    sizes = {"tensor": tensor, "pipeline": pipeline, "virtual_pipeline": chunks, "context": context}
    row.set(parallel={name: size for name, size in sizes.items() if size and size > 1})
    if tensor > 1:
        row.set(parallel={"sequence_parallel": True})
    if chunks and chunks > 1:
        row.set(overlap={"p2p": True})
    if has_experts(row.model):
        row.set(parallel={"expert": expert or 1, "expert_tensor": expert_tensor})
    layout = LAYOUTS.get(row.model, {}).get((pipeline, chunks or 1))
    if layout:
        row.set(parallel={"layout": layout})
        row.settings.pop("parallel.virtual_pipeline", None)


def set_batch(row, micro, total, sequence):
    row.set(model={"sequence": sequence}, training={"micro_batch": micro, "global_batch": total})


def set_precision(row, precision, hopper):
    """Finer fp8 is MXFP8 on Blackwell and has blocks on Hopper."""
    if "BF16" in precision or "bfloat16" in precision:
        return row.set(training={"precision": "bf16"})
    if precision == "NVFP4":
        return row.set(training={"precision": "nvfp4"})
    row.set(training={"precision": "fp8"})
    if "MX" in precision or ("finer" in precision and not hopper):
        row.set(training={"fp8_recipe": "mxfp8"})
    elif "finer" in precision or "SC" in precision:
        row.set(training={"fp8_recipe": "blockwise"})
    elif "CS" in precision:
        row.set(training={"fp8_recipe": "tensorwise"})


def set_quantized_gather(row):
    """Parameters of fp8 runs whose recipe gathers them as the products take them, which needs the distributed optimizer."""
    if row.settings.get("training.precision") == "fp8" and row.settings.get("training.fp8_recipe") != "blockwise":
        row.set(training={"quantized_param_gather": True})


def set_kind(row, with_experts):
    row.kind = "experts" if with_experts else "dense"
    if row.model in HYBRID:
        row.kind = "hybrid"
        row.need(*HYBRID[row.model])


def set_task(row, task, adapters):
    """Fine-tuning trains a model on packed samples, whose lengths no table states; LoRA trains adapters alone."""
    if task.lower().startswith("pre-training"):
        return
    row.assume("samples")
    if "LoRA" in task:
        row.set(**adapters)
        row.assume("adapters")


def has_experts(model):
    path = RECORDS / "models" / f"{model}.yaml"
    return path.exists() and "\n  experts:" in path.read_text()


def read_csv(path):
    with path.open() as file:
        return list(csv.DictReader(file))


# Megatron-Bridge


def set_graphs(row, implementation, scope):
    """Without a scope, graphs hold whole layers."""
    if not implementation or implementation == "none":
        return
    scope = [scope] if isinstance(scope, str) else scope or []
    if implementation == "full_iteration" or "full_iteration" in scope:
        row.set(training={"cuda_graphs": "full_iteration"})
    else:
        row.set(training={"cuda_graphs": scope or "layers"})


def set_bridge_recipe(row, recipe):
    """The keys of a recipe besides layout and batch."""
    if recipe.get("recompute_modules"):
        names = [RECOMPUTED[name] for name in recipe["recompute_modules"]]
        row.set(training={"recompute": "selective", "recompute_modules": names})
    if recipe.get("recompute_num_layers"):
        row.set(training={"recompute": "full", "recompute_method": "block", "recompute_layers": recipe["recompute_num_layers"]})
    set_graphs(row, recipe.get("cuda_graph_impl"), recipe.get("cuda_graph_scope") or BRIDGE_GRAPH_MODULES.get(row.model))
    dispatcher = recipe.get("moe_flex_dispatcher_backend")
    if dispatcher:
        row.set(training={"moe_dispatcher": FLEX_BACKENDS[dispatcher]})
    if dispatcher == "hybridep":
        row.set(training={"moe_dispatch_sms": recipe.get("moe_hybridep_num_sms", BRIDGE_HYBRIDEP_SMS)})
    if recipe.get("moe_router_padding_for_quantization") or recipe.get("moe_router_padding_for_fp8"):
        row.set(training={"moe_router_padding": True})
    if recipe.get("moe_a2a_overlap"):
        row.set(overlap={"expert": True, "delay_weight_gradients": True})
    layers = recipe.get("cpu_offloading_num_layers")
    if layers and "parallel.pipeline" in row.settings:
        row.need("a layout that is stated")  # Megatron-Core offloads layers without stages alone: the recipe is another run's
    elif layers:
        row.set(training={"offload_layers": layers})
    if recipe.get("fp8_dot_product_attention"):
        row.need("fp8 attention")
    if recipe.get("cutedsl_fused_grouped_mlp"):
        row.set(training={"moe_fused_mlp": True, "moe_grouped_kernel": "one"})
        if recipe.get("cuda_graph_impl") == "full_iteration":  # no graph could hold the host's reads of the counts
            row.set(training={"moe_counts": "device"})


def bridge_keys(recipe):
    """The recipe's keys by name. Since v0.6.0 recipes are functions, whose assignments stand under `settings`."""
    settings = {key.split(".", 1)[1]: value for key, value in recipe.get("settings", {}).items() if key.startswith("model.")}
    return settings | recipe


def bridge_precision(given):
    """Tables of 2026 print FP8 for each recipe of fp8; the recipe's name says which."""
    name = given["recipe_name"] or ""
    return "FP8-CS" if given["precision"] == "FP8" and "FP8_CS" in name else given["precision"]


def set_bridge_release(row, container, gpu, precision):
    """What a release turns on for the model that its table and the recipe's keys do not say."""
    place = (row.model, gpu)
    if row.model == "deepseek-v3":  # recipes of all releases, and the rows of all print the FLOPs of a model that has it
        row.set(model={"mtp_layers": 1})
    if row.model in BRIDGE_FUSED_ROUTERS:
        row.set(training={"moe_router_fusion": True})
    if container == "25.09" and place in BRIDGE_25_09_GRAPHS:
        row.set(training={"cuda_graphs": "layers"})
    if container == "25.09" and row.model in BRIDGE_25_09_RECOMPUTED:
        row.set(training={"recompute": "selective", "recompute_modules": BRIDGE_25_09_RECOMPUTED[row.model]})
    if container == "25.11" and precision == "FP8-MX" and place in BRIDGE_25_11_SERIAL_GATHER:
        row.set(overlap={"param_gather": False})
    if row.model in BRIDGE_ROUTER_PADDING and precision in ("MXFP8", "NVFP4"):
        row.set(training={"moe_router_padding": True})


def set_shared_overlap(row):
    """Shared experts run beside the exchange only if NCCL makes it and nothing else overlaps it."""
    if row.model in BRIDGE_SHARED_OVERLAP and not {"training.moe_dispatcher", "overlap.expert"} & row.settings.keys():
        row.set(overlap={"shared_expert": True})


def import_bridge(folder):
    for given in json.loads((folder / "megatron_bridge_perf_full.json").read_text()):
        row = Row(BRIDGE_MODELS[given["model"].split(" (")[0]], place(given) + f", {given['container']}")
        row.seconds = given["iter_time_s_derived"]
        set_kind(row, has_experts(row.model))
        set_cluster(row, given["gpu"], given["gpus"])
        set_batch(row, given["mbs"], given["gbs"], given["seq"])
        set_layout(row, given["tp"], given["pp"], given["cp"], given["vpp"], given["ep"], given["etp"] or 1)
        row.set(**BRIDGE_TRAINING)
        row.set(**BUCKETS)
        row.assume("recipe")
        set_precision(row, bridge_precision(given), given["gpu"] == "H100")
        if given["precision"] == "NVFP4":
            row.set(training=BRIDGE_NVFP4.get(row.model, {}))
        set_quantized_gather(row)
        apart = given["recipe"] and row.model.startswith("qwen3") and given["gpu"] == "H100"  # tp_comm_overlap=False
        if given["tp"] > 1 and given["precision"] != "NVFP4" and not apart:
            row.set(overlap={"tensor": True})
        if "tokendrop" in given["model"]:
            row.set(training={"moe_capacity_factor": 1, "moe_pad_to_capacity": True})
        if given["fsdp"]:
            row.set(**FSDP)
            row.set(**BRIDGE_FSDP.get(row.model, {}))
        set_task(row, given["task"], BRIDGE_LORA)
        if row.model == "kimi-k2":
            row.set(**KIMI_MUON)
        set_bridge_release(row, given["container"], given["gpu"], given["precision"])
        set_bridge_recipe(row, bridge_keys(given["recipe"] or {}))
        set_shared_overlap(row)
        yield row


# NVIDIA/dgxc-benchmarking and NeMo


def chunks_of(rows):
    """Chunks by model, stages and tensor parallelism, where some release states them."""
    return {(r["model"], r["gpu"], r["tp"], r["pp"]): number(r["vpp"]) for r in rows if number(r["vpp"])}


def import_dgxc(folder):
    rows = read_csv(folder / "dgxc_benchmarking.csv")
    chunks, printed = chunks_of(rows), {}
    for given in rows:
        # A time that a later release repeats beside another layout stays with the release that printed it first.
        time = (given["model"], given["gpu"], given["gpus"], given["precision"], given["step_time_s"])
        if printed.setdefault(time, given["tag"]) != given["tag"]:
            continue
        row = Row(DGXC_MODELS[given["model"]], place(given) + f", {given['tag']}")
        row.seconds = float(given["step_time_s"])
        set_kind(row, has_experts(row.model))
        set_cluster(row, given["gpu"], number(given["gpus"]))
        set_batch(row, number(given["mbs"]), number(given["gbs"]), number(given["seq"]))
        said = number(given["vpp"])
        if said is None and number(given["pp"]) > 1 and (given["model"], given["gpu"], given["tp"], given["pp"]) in chunks:
            said = chunks[(given["model"], given["gpu"], given["tp"], given["pp"])]
            row.assume("chunks of another release")
        set_layout(row, number(given["tp"]), number(given["pp"]), number(given["cp"]), said, number(given["ep"]),
                   number(given["etp"]))
        if row.model == "grok-1":  # the sizes below 512 GPUs have fewer layers
            row.set(model={"layers": number(given["layers"])})
        old = "README_" in given["path"]  # NeMo 1, configured by files
        row.set(**NEMO_TRAINING)
        row.set(**(NEMO_1 if old else NEMO_2).get(row.model, {}))
        if not old:
            row.set(**BUCKETS)
        if not old and given["gpu"] == "GB200" and row.model == "nemotron-4-340b":
            row.set(training={"cuda_graphs": "layers"})  # launch.sh: --cuda_graphs true on GB200
        if not old and given["gpu"] == "H100" and row.model == "llama-4-maverick":
            row.set(training={"cuda_graphs": ["attn", "mlp"]})  # launch.sh: on with fp8, which leaves experts out
        set_precision(row, given["precision"], True)
        set_quantized_gather(row)
        if number(given["tp"]) > 1:
            row.set(overlap={"tensor": True})
        row.assume("recipe")
        yield row


def import_nemo(folder):
    rows = read_csv(folder / "nemo_performance_summary.csv")
    chunks = {(r["model"], r["tp"], r["pp"]): number(r["vpp"]) for r in rows if number(r["vpp"])}
    for given in rows:
        row = Row(NEMO_MODELS[given["model"]], place(given, "source"))
        row.seconds = float(given["iter_time_s_derived"])
        set_cluster(row, "H100", number(given["gpus"]))
        set_batch(row, number(given["mbs"]), number(given["gbs"]), number(given["seq"]))
        said = number(given["vpp"])
        if said is None and (given["model"], given["tp"], given["pp"]) in chunks:
            said = chunks[(given["model"], given["tp"], given["pp"])]
            row.assume("chunks of another release")
        set_layout(row, number(given["tp"]), number(given["pp"]), number(given["cp"]), said)
        row.set(**NEMO_TRAINING)
        row.set(**NEMO_1.get(row.model, {}))
        set_precision(row, given["precision"], True)
        set_quantized_gather(row)
        row.assume("recipe")
        if number(given["tp"]) > 1:
            row.set(overlap={"tensor": True})
        set_task(row, given["task"], NEMO_LORA)
        yield row


# MLPerf


def mlperf_gpu(accelerator):
    """H200 of "NVIDIA H200-SXM5-141GB", GB300 of "NVIDIA Blackwell Ultra GPU (GB300)"."""
    names = re.findall(r"\b(G?[BH]\d{3}(?:-NVL)?)\b", accelerator)
    return names[-1] if names else accelerator


def set_mlperf_precision(row, said):
    if said in ("fp8", "nvfp4"):
        return set_precision(row, said.upper(), True)
    if said.startswith("fp8 ("):  # the submitter's common settings say it
        return set_precision(row, "FP8-CS", True)
    return row.need("a number format that is stated")


def set_mlperf_recipe(row, said):
    """What the submission's configuration turns on, as far as the row's number format and layout can have it."""
    keys = next(keys for pattern, keys in MLPERF_RECIPES if re.search(pattern, said))
    fp8 = row.settings.get("training.precision") == "fp8"
    row.set(training={name: value for name, value in keys["training"].items() if fp8 or name not in MLPERF_FP8})
    if "parallel.context" in row.settings:
        row.set(parallel=keys.get("parallel", {}))
    if "parallel.context" not in row.settings and "parallel.tensor" not in row.settings and "lora" in said:
        row.set(training={"fp8_activation_input": True})
    if row.settings.get("training.fp8_recipe") == "tensorwise":
        row.settings.pop("training.tp_only_amax_red", None)


def import_mlperf(folder):
    for given in read_csv(folder / "mlperf_training_llm_v5.0_v5.1.csv"):
        row = Row(MLPERF_MODELS[given["benchmark"]], f"{given['repo']} @{given['commit'][:8]} {given['first_log_path']}")
        row.seconds = float(given["step_time_s_median_of_runs"])
        set_cluster(row, mlperf_gpu(given["accelerator"]), number(given["gpus"]))
        if given["benchmark"] == "llama2_70b_lora":
            row.set(**MLPERF_LORA)
            if number(given["tp"]) and number(given["tp"]) > 1:
                row.set(model={"lora_all_to_all": True})
        if given["layout_consistent"] != "True":
            row.need("a layout that is stated")
            yield row
            continue
        set_batch(row, number(given["mbs"]), number(given["gbs"]), number(given["seq"]))
        set_layout(row, number(given["tp"]), number(given["pp"]), number(given["cp"]), number(given["vpp"]))
        row.set(training={"gradient_type": "bf16", "tp_only_amax_red": True if given["precision"] == "fp8" else None,
                          "check_gradients": False})
        set_mlperf_precision(row, given["precision"])
        if given["fp8_param_gather"] == "True":
            set_quantized_gather(row)
        if given["tp_comm_overlap"] in ("True", "1") and number(given["tp"]) > 1:
            row.set(overlap={"tensor": True})
        set_mlperf_recipe(row, f"{given['round']} {given['benchmark']} {given['accelerator']} {given['submitter']}")
        if given["full_cuda_graph"] in ("1", "True"):
            row.set(training={"cuda_graphs": "full_iteration"})
        row.assume("recipe")
        yield row


# Megatron-LM's own tests


def argument_words(arguments):
    """Words of a command line. Values that are places of the run's files say nothing of the GPUs and are left out."""
    for name, value in arguments.items():
        if value is True:
            yield name
        elif value is not False and value is not None and not str(value).startswith("${"):
            listed = str(value).strip("[]").split() if str(value).startswith("[") and " " in str(value) else [str(value)]
            yield from [name, *listed]


def environment_words(variables):
    """Settings of NCCL, Transformer Engine, cuBLAS and CUDA."""
    return [f"{name}={value}" for name, value in variables.items() if name.startswith(("NCCL_", "NVTE_", "CUBLAS_", "CUDA_"))]


def set_tokenizer(row, arguments):
    """The tests leave the tokenizer to their launcher: GPT-2's where there are merges, BERT's where there is none."""
    if any(name in arguments for name in ("--tokenizer-type", "--vocab-size", "--padded-vocab-size")):
        return
    row.arguments += ["--tokenizer-type", "GPT2BPETokenizer" if "--merge-file" in arguments else "BertWordPieceLowerCase"]
    row.assume("tokenizer")


def import_ci(folder):
    for given in json.loads((folder / "megatron_lm_ci_full_args.json").read_text()):
        if not given["gpus"]:
            continue
        arguments = given["MODEL_ARGS"]
        row = Row(given["test_case"], f"{given['repo']} @{given['commit'][:8]} {given['path']}")
        row.kind, row.seconds = "small CI", given["iteration_time_s_median_2nd_half"]
        set_cluster(row, given["gpu"], given["gpus"])
        if given["recipe"] in CI_LATE_DATA and "--no-create-attention-mask-in-dataloader" not in arguments:
            row.set(training={"sample_time": CI_SAMPLE_TIME})
            row.assume("data loader")
        script = "pretrain_bert.py" if given["family"] == "bert" else "pretrain_gpt.py"
        row.arguments = [*environment_words(given["ENV_VARS"]), "python", script, *argument_words(arguments)]
        row.set(nccl={f"settings.{name}": value for name, value in given["ENV_VARS"].items() if name.startswith("NCCL_")})
        set_tokenizer(row, arguments)
        if given["mem_max_allocated_bytes"]:
            row.memory, row.memory_of = f"{given['mem_max_allocated_bytes'] / 2**30:.6g}", "last"
        for pattern, feature in CI_NEEDS:
            if any(re.fullmatch(pattern, word) for word in pairs(arguments)):
                row.need(feature)
        yield row


def pairs(arguments):
    """ "--name" and "--name value", for patterns."""
    for name, value in arguments.items():
        yield name
        yield f"{name} {value}"


# SimuMax


def import_simumax(folder):
    for given in read_csv(folder / "simumax_b200_measured_vs_predicted.csv"):
        row = Row(f"{given['model']}-l{given['layers']}", f"{place(given, 'source')} {given['case']}")
        row.kind = "experts" if given["model"] in SIMUMAX_EXPERTS else "dense"
        row.seconds = float(given["real_ms"]) / 1e3
        row.memory, row.memory_of = given["real_alloc_gib"], "fullest"
        row.rival_seconds, row.rival_memory = f"{float(given['simumax_ms']) / 1e3:.6g}", given["simumax_alloc_gib"]
        set_cluster(row, "B200", number(given["gpus"]))
        micro, total = number(given["mbs"]), number(given["mbs"]) * number(given["micro_batches"]) * number(given["dp"])
        words = ["python", "pretrain_gpt.py", *SIMUMAX_ARGUMENTS, *SIMUMAX_MODELS[given["model"]]]
        words += ["--num-layers", given["layers"], "--seq-length", given["seq"], "--max-position-embeddings", given["seq"],
                  "--micro-batch-size", str(micro), "--global-batch-size", str(total), "--tensor-model-parallel-size",
                  given["tp"], "--pipeline-model-parallel-size", given["pp"]]
        if number(given["cp"]) > 1:
            words += ["--context-parallel-size", given["cp"], "--cp-comm-type", "a2a"]
        if given["model"] in SIMUMAX_EXPERTS:
            words += [*SIMUMAX_EXPERTS[given["model"]], "--expert-model-parallel-size", given["ep"], "--moe-layer-freq",
                      f"([0]*1+[1]*{number(given['layers']) - 1})", "--moe-router-num-groups", given["ep"]]
        row.arguments = words
        yield row


# Single tables


def seconds_of(given, row):
    """The time of a step; from tokens, or from FLOPs as Megatron-LM counts them, where it is not stated."""
    if given["step_time_s"]:
        return float(given["step_time_s"])
    tokens = number(given["gbs"]) * number(given["seq"])
    if given["tokens_s_gpu"]:
        return tokens / float(given["tokens_s_gpu"]) / number(given["gpus"])
    return flops_per_token(row.model, number(given["seq"])) * tokens / float(given["tflops_gpu"]) / 1e12 / number(given["gpus"])


def flops_per_token(model, sequence):
    """Forward and backward of a model of experts with grouped queries, half of attention's square: num_floating_point_operations
    of Megatron-LM's training.py."""
    text = (RECORDS / "models" / f"{model}.yaml").read_text()
    v = {key: int(value) for key, value in re.findall(r"^  (\w+): (\d+)$", text, re.M)}
    queries, keys = v["heads"] * v["head_dim"], v["kv_heads"] * v["head_dim"]
    attention = v["hidden"] * (2 * queries + 2 * keys) + queries * sequence
    experts = 3 * v["hidden"] * v["expert_ffn"] * v["experts_per_token"]
    return 6 * (v["layers"] * (attention + experts) + v["hidden"] * v["vocab"])


def import_other(folder):
    for given in read_csv(folder / "other_training.csv"):
        model = OTHER_MODELS[given["model"].split(" (")[0].removesuffix(" 2-node")]
        if given["framework"].startswith("torchtitan"):
            yield import_torchtitan(given)
            continue
        row = Row(model, place(given, "source"))
        set_kind(row, has_experts(model))
        if number(given["gbs"]) is None:
            row.need("a batch that is stated")
            row.seconds = number(given["mbs"]) * number(given["seq"]) / float(given["tokens_s_gpu"])
        else:
            row.seconds = seconds_of(given, row)
            set_batch(row, number(given["mbs"]), number(given["gbs"]), number(given["seq"]))
        set_cluster(row, given["gpu"].split("-96GB")[0], number(given["gpus"]))
        set_layout(row, number(given["tp"]), number(given["pp"]), number(given["cp"]), number(given["vpp"]), number(given["ep"]),
                   number(given["etp"]) or 1)
        set_precision(row, given["precision"], given["gpu"] == "H100")
        set_other_recipe(row, given)
        yield row


def set_other_recipe(row, given):
    if "AutoModel" in given["framework"]:
        row.need("FSDP2 with DeepEP" if has_experts(row.model) else "a recomputation that is stated")
        if row.model == "kimi-k2":
            row.need("Muon with FSDP2")
    if given["fsdp"] in ("On", "yes"):
        row.set(**FSDP)
    if given["task"] == "LoRA":
        row.need("LoRA with FSDP2")
    if given["peak_mem_gib"]:
        row.memory, row.memory_of = given["peak_mem_gib"], "first"
    for pattern, settings, needs in OTHER_RECIPES:
        if re.search(pattern, f"{given['framework']}; {given['gpu']}; sequence {given['seq']}; {given['other']}"):
            row.set(**settings)
            row.need(*needs)
    if given["source"] == "yanring/Megatron-MoE-ModelZoo" and "main(" not in given["framework"]:
        set_zoo_recipe(row)
    multiprocessors = re.search(r"(?:HybridEP|DeepEP) (\d+) SMs", given["other"])
    if multiprocessors:
        row.set(training={"moe_dispatch_sms": multiprocessors[1]})
    row.assume("recipe")


def set_zoo_recipe(row):
    """What model_configs/benchmarking/*.yaml and sbatch_benchmarking.sh of yanring/Megatron-MoE-ModelZoo @e8650517 add. Rows of a
    Megatron-LM of May 2025 ("main") are older than these files; --tp-comm-overlap came after the last table with tensor
    parallelism in bf16."""
    row.set(training={"cross_entropy_fusion": "te", "moe_router_fusion": True})
    if row.settings.get("training.moe_dispatcher") == "hybridep":
        row.set(training={"moe_dispatch_sms": 32})
    if row.settings["training.precision"] == "fp8":
        row.set(training={"quantized_param_gather": True, "moe_router_padding": True})
    if row.model == "qwen3-next-80b":
        row.set(training={"log_zeros": True, "log_params_norm": True})


def import_torchtitan(given):
    row = Row("torchtitan-llama-3-8b", place(given, "source"))
    row.cluster, row.seconds = "grand-teton-h100-96g-64", float(given["step_time_s"])
    row.set(cluster={"hosts": number(given["gpus"]) // 8})
    set_batch(row, number(given["mbs"]), number(given["gbs"]), number(given["seq"]))
    row.set(parallel={"tensor": number(given["tp"]), "sequence_parallel": True})
    row.assume("GPU", "sequence length")
    if "float8" in given["precision"]:
        # torchtitan's tables with float8 gather weights in it wherever torchao can: with scales of tensors
        scales = {"fp8_recipe": "rowwise"} if "rowwise" in given["precision"] else {"fp8_all_gather": True}
        row.set(training={"precision": "fp8"}, fsdp=scales)
    if given["other"].startswith("async TP"):
        row.set(fsdp={"async_tensor": True})
    return row


IMPORTERS = {"megatron-bridge": import_bridge, "dgxc-h100-gb200": import_dgxc, "mlperf-5": import_mlperf, "megatron-ci": import_ci,
             "simumax-b200": import_simumax, "nemo-24.07": import_nemo, "single-tables": import_other}


def distinct(rows):
    """Without runs that a later table prints once more."""
    seen = set()
    for row in rows:
        if row.identity() not in seen:
            seen.add(row.identity())
            yield row


def write(path, head, rows):
    with path.open("w", newline="") as file:
        file.write("".join(f"# {line}\n" for line in head))
        out = csv.writer(file, lineterminator="\n")
        out.writerow(COLUMNS)
        out.writerows(row.cells() for row in rows)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.splitlines()[2])
    for name, read in IMPORTERS.items():
        rows = list(distinct(read(pathlib.Path(sys.argv[1]))))
        write(RECORDS / f"{name}.csv", HEADS[name], rows)
        waiting = sum(bool(row.needs) for row in rows)
        print(f"{name}: {len(rows)} rows, {waiting} wait for features")


if __name__ == "__main__":
    main()
