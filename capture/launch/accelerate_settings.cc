#include "capture/launch/accelerate_settings.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <vector>

#include "core/base/files.h"
#include "core/base/spelling.h"
#include "core/base/yaml.h"

namespace drydock::capture {
namespace {

// A setting with the value that accelerate gives it by itself (null: None), and the variable that
// passes it on (null: none).
struct Setting {
  const char* name;
  const char* otherwise;
  const char* variable;
  enum class Spelling { kAsIs, kLower } spelling = Spelling::kAsIs;
};
constexpr auto kLower = Setting::Spelling::kLower;

constexpr Setting kDynamo[] = {
    {"dynamo_mode", "default", "ACCELERATE_DYNAMO_MODE"},
    {"dynamo_use_fullgraph", "False", "ACCELERATE_DYNAMO_USE_FULLGRAPH"},
    {"dynamo_use_dynamic", "False", "ACCELERATE_DYNAMO_USE_DYNAMIC"},
    {"dynamo_use_regional_compilation", "False", "ACCELERATE_DYNAMO_USE_REGIONAL_COMPILATION"},
};

constexpr Setting kFsdp[] = {
    {"fsdp_version", "1", "FSDP_VERSION"},
    {"fsdp_sharding_strategy", "FULL_SHARD", "FSDP_SHARDING_STRATEGY"},
    {"fsdp_reshard_after_forward", "true", "FSDP_RESHARD_AFTER_FORWARD", kLower},
    {"fsdp_offload_params", "false", "FSDP_OFFLOAD_PARAMS", kLower},
    {"fsdp_min_num_params", "100000000", "FSDP_MIN_NUM_PARAMS"},
    {"fsdp_auto_wrap_policy", nullptr, "FSDP_AUTO_WRAP_POLICY"},
    {"fsdp_transformer_layer_cls_to_wrap", nullptr, "FSDP_TRANSFORMER_CLS_TO_WRAP"},
    {"fsdp_backward_prefetch", nullptr, "FSDP_BACKWARD_PREFETCH"},
    {"fsdp_state_dict_type", nullptr, "FSDP_STATE_DICT_TYPE"},
    {"fsdp_forward_prefetch", "false", "FSDP_FORWARD_PREFETCH", kLower},
    {"fsdp_use_orig_params", "true", "FSDP_USE_ORIG_PARAMS", kLower},
    {"fsdp_cpu_ram_efficient_loading", "true", "FSDP_CPU_RAM_EFFICIENT_LOADING", kLower},
    {"fsdp_sync_module_states", "true", "FSDP_SYNC_MODULE_STATES", kLower},
    {"fsdp_activation_checkpointing", "false", "FSDP_ACTIVATION_CHECKPOINTING", kLower},
    {"fsdp_activation_checkpointing_offload", "false", "FSDP_ACTIVATION_CHECKPOINTING_OFFLOAD",
     kLower},
    {"fsdp_ignored_modules", nullptr, "FSDP_IGNORED_MODULES"},
};

// Their variables are these names in capitals.
constexpr Setting kMegatron[] = {
    {"megatron_lm_tp_degree", "1", ""},
    {"megatron_lm_use_custom_fsdp", "False", ""},
    {"megatron_lm_no_load_optim", "False", ""},
    {"megatron_lm_eod_mask_loss", "False", ""},
    {"megatron_lm_no_save_optim", "False", ""},
    {"megatron_lm_optimizer_cpu_offload", "False", ""},
    {"megatron_lm_use_precision_aware_optimizer", "False", ""},
    {"megatron_lm_overlap_cpu_optimizer_d2h_h2d", "False", ""},
    {"megatron_lm_decoder_last_pipeline_num_layers", nullptr, ""},
    {"megatron_lm_pp_degree", "1", ""},
    {"megatron_lm_gradient_clipping", "1.0", ""},
    {"megatron_lm_num_micro_batches", nullptr, ""},
    {"megatron_lm_sequence_parallelism", nullptr, ""},
    {"megatron_lm_recompute_activations", nullptr, ""},
    {"megatron_lm_use_distributed_optimizer", nullptr, ""},
    {"megatron_lm_recompute_granularity", nullptr, ""},
    {"megatron_lm_recompute_method", nullptr, ""},
    {"megatron_lm_recompute_num_layers", nullptr, ""},
    {"megatron_lm_attention_backend", nullptr, ""},
    {"megatron_lm_expert_model_parallel_size", nullptr, ""},
    {"megatron_lm_context_parallel_size", nullptr, ""},
    {"megatron_lm_attention_dropout", nullptr, ""},
    {"megatron_lm_hidden_dropout", nullptr, ""},
    {"megatron_lm_attention_softmax_in_fp32", nullptr, ""},
    {"megatron_lm_expert_tensor_parallel_size", nullptr, ""},
    {"megatron_lm_calculate_per_token_loss", nullptr, ""},
    {"megatron_lm_use_rotary_position_embeddings", nullptr, ""},
};

constexpr Setting kDeepSpeed[] = {
    {"zero_stage", nullptr, "ACCELERATE_DEEPSPEED_ZERO_STAGE"},
    {"gradient_accumulation_steps", nullptr, "ACCELERATE_GRADIENT_ACCUMULATION_STEPS"},
    {"gradient_clipping", nullptr, "ACCELERATE_GRADIENT_CLIPPING", kLower},
    {"offload_optimizer_device", nullptr, "ACCELERATE_DEEPSPEED_OFFLOAD_OPTIMIZER_DEVICE", kLower},
    {"offload_param_device", nullptr, "ACCELERATE_DEEPSPEED_OFFLOAD_PARAM_DEVICE", kLower},
    {"offload_optimizer_nvme_path", nullptr, nullptr},
    {"offload_param_nvme_path", nullptr, nullptr},
    {"zero3_init_flag", nullptr, "ACCELERATE_DEEPSPEED_ZERO3_INIT", kLower},
    {"zero3_save_16bit_model", nullptr, "ACCELERATE_DEEPSPEED_ZERO3_SAVE_16BIT_MODEL", kLower},
    {"deepspeed_config_file", nullptr, "ACCELERATE_DEEPSPEED_CONFIG_FILE"},
    {"deepspeed_moe_layer_cls_names", nullptr, "ACCELERATE_DEEPSPEED_MOE_LAYER_CLS_NAMES"},
    {"deepspeed_hostfile", nullptr, nullptr},
    {"deepspeed_exclusion_filter", nullptr, nullptr},
    {"deepspeed_inclusion_filter", nullptr, nullptr},
    {"deepspeed_multinode_launcher", nullptr, nullptr},
};

constexpr Setting kFp8[] = {
    {"fp8_backend", nullptr, "ACCELERATE_FP8_BACKEND"},
    {"fp8_use_autocast_during_eval", "False", "ACCELERATE_FP8_USE_AUTOCAST_DURING_EVAL"},
    {"fp8_margin", "0", "ACCELERATE_FP8_MARGIN"},
    {"fp8_interval", "1", "ACCELERATE_FP8_INTERVAL"},
    {"fp8_format", "HYBRID", "ACCELERATE_FP8_FORMAT"},
    {"fp8_amax_history_len", "1024", "ACCELERATE_FP8_AMAX_HISTORY_LEN"},
    {"fp8_amax_compute_algo", "most_recent", "ACCELERATE_FP8_AMAX_COMPUTE_ALGO"},
    {"fp8_override_linear_precision", nullptr, nullptr},
    {"fp8_opt_level", "O2", "ACCELERATE_FP8_OPT_LEVEL"},
    {"fp8_enable_fsdp_float8_all_gather", "True", "ACCELERATE_FP8_ENABLE_FSDP_FLOAT8_ALL_GATHER"},
    {"fp8_pad_inner_dim", "True", "ACCELERATE_FP8_PAD_INNER_DIM"},
};

constexpr Setting kParallelism[] = {
    {"parallelism_config_dp_replicate_size", "1", ""},
    {"parallelism_config_dp_shard_size", "1", ""},
    {"parallelism_config_tp_size", "1", ""},
    {"parallelism_config_cp_size", "1", ""},
    {"parallelism_config_cp_backend", "torch", ""},
    {"parallelism_config_cp_comm_strategy", "allgather", ""},
    {"parallelism_config_sp_size", "1", ""},
    {"parallelism_config_sp_backend", "deepspeed", ""},
    {"parallelism_config_sp_seq_length", nullptr, ""},
    {"parallelism_config_sp_seq_length_is_variable", "True", ""},
    {"parallelism_config_sp_attn_implementation", "sdpa", ""},
};

std::string Changed(std::string text, int (*change)(int)) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [&](unsigned char c) { return static_cast<char>(change(c)); });
  return text;
}
std::string Lower(const std::string& text) { return Changed(text, std::tolower); }
std::string Upper(const std::string& text) { return Changed(text, std::toupper); }

template <size_t kCount>
void SetAll(const Setting (&settings)[kCount], const AccelerateSettings& values,
            Variables* variables) {
  for (const Setting& setting : settings) {
    const std::optional<std::string> value = values.Get(setting.name);
    if (setting.variable == nullptr || !value) continue;
    Set(variables, *setting.variable == '\0' ? Upper(setting.name) : setting.variable,
        setting.spelling == kLower ? Lower(*value) : *value);
  }
}

// As Python prints a value of YAML.
std::string Printed(const YamlNode& node) {
  const std::string& text = node.scalar;
  for (const char* yes : {"true", "True", "TRUE", "yes", "Yes", "on", "On"}) {
    if (text == yes) return "True";
  }
  for (const char* no : {"false", "False", "FALSE", "No", "off", "Off"}) {
    if (text == no) return "False";
  }
  return text;
}

bool IsNull(const YamlNode& node) {
  return node.kind == YamlNode::Kind::kNull || node.scalar == "null" || node.scalar == "~";
}

const std::vector<std::string>& FileKeys() {
  static const std::vector<std::string> kKeys = {"compute_environment",
                                                 "distributed_type",
                                                 "mixed_precision",
                                                 "use_cpu",
                                                 "debug",
                                                 "num_processes",
                                                 "machine_rank",
                                                 "num_machines",
                                                 "gpu_ids",
                                                 "main_process_ip",
                                                 "main_process_port",
                                                 "rdzv_backend",
                                                 "same_network",
                                                 "main_training_function",
                                                 "enable_cpu_affinity",
                                                 "fp8_config",
                                                 "deepspeed_config",
                                                 "fsdp_config",
                                                 "parallelism_config",
                                                 "megatron_lm_config",
                                                 "mpirun_config",
                                                 "ipex_config",
                                                 "downcast_bf16",
                                                 "tpu_name",
                                                 "tpu_zone",
                                                 "tpu_use_cluster",
                                                 "tpu_use_sudo",
                                                 "command_file",
                                                 "commands",
                                                 "tpu_vm",
                                                 "tpu_env",
                                                 "dynamo_config",
                                                 "dynamo_backend",
                                                 "fp16"};
  return kKeys;
}

}  // namespace

const OptionTable& AccelerateOptions() {
  static const OptionTable kTable = [] {
    OptionTable table;
    table.launcher = "accelerate";
    table.underscores = true;
    table.prefixes = false;
    table.dash_values = false;
    for (const char* flag : {"--help|-h",
                             "--quiet|-q",
                             "--cpu",
                             "--multi_gpu",
                             "--tpu",
                             "--ipex",
                             "--enable_cpu_affinity",
                             "--dynamo_use_fullgraph",
                             "--dynamo_use_dynamic",
                             "--dynamo_use_regional_compilation",
                             "--use_deepspeed",
                             "--use_fsdp",
                             "--use_parallelism_config",
                             "--use_megatron_lm",
                             "--use_xpu",
                             "--same_network",
                             "--module|-m",
                             "--no_python",
                             "--tpu_cluster",
                             "--no_tpu_cluster",
                             "--tpu_use_sudo",
                             "--downcast_bf16",
                             "--fp8_use_autocast_during_eval",
                             "--debug"}) {
      table.options.push_back({flag, 0});
    }
    for (const char* option : {"--config_file",
                               "--mixed_precision",
                               "--num_processes",
                               "--num_machines",
                               "--num_cpu_threads_per_process",
                               "--dynamo_backend",
                               "--gpu_ids",
                               "--machine_rank",
                               "--main_process_ip",
                               "--main_process_port",
                               "--tee|-t",
                               "--log_dir",
                               "--role",
                               "--rdzv_backend",
                               "--rdzv_conf",
                               "--max_restarts",
                               "--monitor_interval",
                               "--vm",
                               "--env",
                               "--main_training_function",
                               "--aws_access_key_id",
                               "--aws_secret_access_key",
                               "--mpirun_hostfile",
                               "--mpirun_ccl"}) {
      table.options.push_back({option});
    }
    const auto add = [&](const auto& settings) {
      for (const Setting& setting : settings) {
        const std::string name = std::string("--") + setting.name;
        const bool known =
            std::any_of(table.options.begin(), table.options.end(),
                        [&](const LauncherOption& option) { return option.names == name; });
        if (!known) table.options.push_back({name});
      }
    };
    add(kDynamo), add(kFsdp), add(kMegatron), add(kDeepSpeed), add(kFp8), add(kParallelism);
    return table;
  }();
  return kTable;
}

AccelerateSettings::AccelerateSettings() {
  const auto add = [&](const auto& settings) {
    for (const Setting& setting : settings) {
      if (setting.otherwise != nullptr) values_[setting.name] = setting.otherwise;
    }
  };
  add(kDynamo), add(kFsdp), add(kMegatron), add(kDeepSpeed), add(kFp8), add(kParallelism);
}

void AccelerateSettings::Give(const std::string& name, const std::string& value) {
  std::string plain = name;
  std::replace(plain.begin(), plain.end(), '-', '_');
  given_[plain] = values_[plain] = value;
}

std::optional<std::string> AccelerateSettings::Get(const std::string& name) const {
  const auto value = values_.find(name);
  if (value == values_.end()) return std::nullopt;
  return value->second;
}

bool AccelerateSettings::IsTrue(const std::string& name) const {
  return Get(name).value_or("") == "True";
}

Result<std::string> AccelerateSettings::ReadFile(const std::string& path) {
  ASSIGN_OR_RETURN(const YamlNode root, LoadYaml(path));
  if (root.kind != YamlNode::Kind::kMap) return root.ErrorHere("is not a list of settings");
  std::string type;
  for (const auto& [key, value] : root.entries) {
    const std::string& name = key.scalar;
    if (std::find(FileKeys().begin(), FileKeys().end(), name) == FileKeys().end()) {
      return key.ErrorHere("accelerate has no setting '" + name + "'" +
                           DidYouMean(name, FileKeys()));
    }
    if (value.kind == YamlNode::Kind::kMap) {
      for (const auto& [inner, setting] : value.entries) {
        std::string full = inner.scalar;
        for (const char* prefix : {"fsdp_", "fp8_", "dynamo_"}) {
          if (name == std::string(prefix) + "config" && !full.starts_with(prefix)) {
            full = prefix + full;
          }
        }
        if (name == "deepspeed_config") from_file_ += (from_file_.empty() ? "" : ",") + full;
        if (given_.contains(full)) continue;
        if (IsNull(setting)) {
          values_.erase(full);
        } else {
          values_[full] = Printed(setting);
        }
      }
      continue;
    }
    if (IsNull(value) || value.kind != YamlNode::Kind::kScalar) continue;
    if (name == "compute_environment" && value.scalar == "AMAZON_SAGEMAKER") {
      return value.ErrorHere("a job of SageMaker is not started on this machine");
    }
    if (name == "distributed_type") {
      type = value.scalar;
    } else if (name == "dynamo_backend") {
      if (value.scalar != "NO" && !given_.contains(name)) values_[name] = Printed(value);
    } else if (!given_.contains(name)) {
      values_[name] = Printed(value);
      if (name == "mixed_precision") precision_from_file_ = true;
    }
  }
  if (type.empty()) return root.ErrorHere("accelerate needs a distributed_type");
  if (!Get("num_processes") && type != "NO") {
    return root.ErrorHere("it has no num_processes; write --num_processes N on the command line");
  }
  return type;
}

void AccelerateSettings::SetDeepSpeed(Variables* variables) const {
  SetAll(kDeepSpeed, *this, variables);
  // accelerate counts mixed_precision as DeepSpeed's where only the file has it.
  std::string fields = from_file_;
  if (precision_from_file_) fields += (fields.empty() ? "" : ",") + std::string("mixed_precision");
  Set(variables, "ACCELERATE_CONFIG_DS_FIELDS", Lower(fields));
  Set(variables, "ACCELERATE_USE_DEEPSPEED", "true");
}

void AccelerateSettings::SetVariables(bool several, Launch* launch) const {
  Variables* variables = &launch->environment;
  if (IsTrue("debug")) Set(variables, "ACCELERATE_DEBUG_MODE", "true");
  const std::string gpus = Get("gpu_ids").value_or("all");
  if (gpus != "all") Set(variables, "CUDA_VISIBLE_DEVICES", gpus);
  const std::string precision = Lower(Get("mixed_precision").value_or("no"));
  Set(variables, "ACCELERATE_MIXED_PRECISION", precision == "false" ? "no" : precision);
  if (precision == "fp8") SetAll(kFp8, *this, variables);
  if (IsTrue("enable_cpu_affinity")) Set(variables, "ACCELERATE_CPU_AFFINITY", "1");
  if (!several) Set(variables, "ACCELERATE_USE_CPU", "False");
  if (IsTrue("use_parallelism_config")) {
    Set(variables, "ACCELERATE_USE_PARALLELISM_CONFIG", "true");
    SetAll(kParallelism, *this, variables);
  }
  if (IsTrue("use_deepspeed")) {
    // DeepSpeed's processes find modules in the folder of the launch.
    const std::string path = ValueOf(*variables, "PYTHONPATH");
    Set(variables, "PYTHONPATH", launch->folder + (path.empty() ? "" : ":" + path));
    if (!Has(*variables, "OMP_NUM_THREADS") && launch->ranks_per_host > 1) {
      Set(variables, "OMP_NUM_THREADS", "1");
    }
    SetDeepSpeed(variables);
    return;
  }
  Set(variables, "ACCELERATE_DYNAMO_BACKEND", Upper(Get("dynamo_backend").value_or("no")));
  SetAll(kDynamo, *this, variables);
  if (IsTrue("use_fsdp")) {
    Set(variables, "ACCELERATE_USE_FSDP", "true");
    SetAll(kFsdp, *this, variables);
  }
  if (IsTrue("use_megatron_lm")) {
    Set(variables, "ACCELERATE_USE_MEGATRON_LM", "true");
    SetAll(kMegatron, *this, variables);
  }
  std::string threads = Get("num_cpu_threads_per_process").value_or("");
  if (threads.empty()) threads = ValueOf(*variables, "OMP_NUM_THREADS");
  Set(variables, "OMP_NUM_THREADS", threads.empty() ? "1" : threads);
}

}  // namespace drydock::capture
