#include <sstream>

#include "workload-gen/import/recipe/recipe_table.h"

namespace drydock {
namespace {

using Use = RecipeKey::Use;

// Pairs of a key of the section `model` and an argument.
constexpr const char* kValues =
    "micro_batch_size --micro-batch-size global_batch_size --global-batch-size "
    "tensor_model_parallel_size --tensor-model-parallel-size "
    "pipeline_model_parallel_size --pipeline-model-parallel-size "
    "virtual_pipeline_model_parallel_size --num-virtual-stages-per-pipeline-rank "
    "context_parallel_size --context-parallel-size "
    "expert_model_parallel_size --expert-model-parallel-size "
    "encoder_seq_length --seq-length max_position_embeddings --max-position-embeddings "
    "num_layers --num-layers hidden_size --hidden-size ffn_hidden_size --ffn-hidden-size "
    "num_attention_heads --num-attention-heads kv_channels --kv-channels "
    "hidden_dropout --hidden-dropout attention_dropout --attention-dropout "
    "make_vocab_size_divisible_by --make-vocab-size-divisible-by "
    "position_embedding_type --position-embedding-type "
    "rotary_percentage --rotary-percent rotary_base --rotary-base "
    "activations_checkpoint_granularity --recompute-granularity "
    "num_moe_experts --num-experts moe_router_topk --moe-router-topk "
    "moe_token_dispatcher_type --moe-token-dispatcher-type "
    "moe_aux_loss_coeff --moe-aux-loss-coeff moe_z_loss_coeff --moe-z-loss-coeff "
    "moe_router_load_balancing_type --moe-router-load-balancing-type "
    "moe_expert_capacity_factor --moe-expert-capacity-factor "
    "override_vocab_size --padded-vocab-size nccl_communicator_config_path "
    "--nccl-communicator-config-path hybrid_override_pattern --hybrid-override-pattern";

constexpr const char* kFlags =
    "sequence_parallel --sequence-parallel qkv_bias --add-qkv-bias "
    "fp32_residual_connection --fp32-residual-connection "
    "fp16_lm_cross_entropy --fp16-lm-cross-entropy ub_tp_comm_overlap --tp-comm-overlap "
    "sharp --use-sharp cross_entropy_loss_fusion --cross-entropy-loss-fusion "
    "deterministic_mode --deterministic-mode moe_grouped_gemm --moe-grouped-gemm "
    "moe_pad_expert_input_to_capacity --moe-pad-expert-input-to-capacity "
    "enable_cuda_graph --enable-cuda-graph cpu_offloading --cpu-offloading "
    "openai_gelu --openai-gelu rotary_interleaved --rotary-interleaved "
    "apply_query_key_layer_scaling --apply-query-key-layer-scaling "
    "layernorm_zero_centered_gamma --apply-layernorm-1p "
    "defer_embedding_wgrad_compute --defer-embedding-wgrad-compute";

constexpr const char* kFlagsOff =
    "bias --disable-bias-linear add_bias_linear --disable-bias-linear "
    "share_embeddings_and_output_weights --untie-embeddings-and-output-weights "
    "bias_activation_fusion --no-bias-gelu-fusion "
    "bias_dropout_add_fusion --no-bias-dropout-fusion "
    "masked_softmax_fusion --no-masked-softmax-fusion";

constexpr const char* kComputed =
    "num_query_groups normalization activation overlap_p2p_comm tokenizer.library tokenizer.type "
    "tokenizer.model megatron_amp_O2 mcore_gpt transformer_engine use_flash_attention fp8 fp8_e4m3 "
    "fp8_hybrid fp8_params fp8_wgrad activations_checkpoint_method "
    "activations_checkpoint_num_layers cpu_offloading_num_layers wgrad_deferral_limit window_size "
    "optim.name optim.overlap_grad_sync optim.overlap_param_sync optim.grad_sync_dtype "
    "ub_tp_comm_overlap_cfg optim.bucket_cap_mb optim.ddp_bucket_size optim.nccl_ub "
    "data.seq_length name "
    "mcore_customization_config.new_decoder_architecture "
    "mcore_customization_config.parallel_attention precision mcore_bert "
    "gradient_accumulation_fusion apply_rope_fusion";

constexpr const char* kIgnored =
    "init_method_std use_scaled_init_method layernorm_epsilon pre_process post_process "
    "persist_layer_norm gradient_as_bucket_view seq_len_interpolation_factor seed "
    "resume_from_checkpoint restore_from_path restore_from_ckpt use_cpu_initialization onnx_safe "
    "apex_transformer_log_level native_amp_init_scale native_amp_growth_interval hysteresis "
    "do_layer_norm_weight_decay rampup_batch_size gc_interval fp8_margin fp8_interval "
    "fp8_amax_history_len fp8_amax_compute_algo reduce_amax use_te_rng_tracker attention_type "
    "normalize_attention_scores get_attention_mask_from_fusion grad_div_ar_fusion "
    "grad_allreduce_chunk_size_mb async_grad_allreduce sync_batch_comm batch_p2p_comm "
    "fsdp_sharding_strategy fsdp_grad_reduce_dtype fsdp_sharded_checkpoint dist_ckpt_format "
    "dist_ckpt_load_on_device dist_ckpt_parallel_save dist_ckpt_parallel_save_within_dp "
    "dist_ckpt_parallel_load dist_ckpt_torch_dist_multiproc dist_ckpt_assume_constant_structure "
    "dist_ckpt_parallel_dist_opt dist_ckpt_load_strictness validation_param_sync_overlap "
    "enable_megatron_timers megatron_timer_kwargs reset_lr reset_lr_steps "
    "cpu_offloading_activations "
    "cpu_offloading_weights answer_only_loss megatron_legacy tokenizer.delimiter "
    "tokenizer.vocab_file tokenizer.merge_file tokenizer.merges_file "
    "tokenizer.sentencepiece_legacy "
    "tokenizer.tokenizer_model tokenizer.trust_remote_code tokenizer.use_fast tokenizer.eos_id "
    "data.* nsys_profile.* optim.lr optim.betas optim.eps optim.weight_decay optim.sched.* "
    "optim.lock_timeout optim.contiguous_grad_buffer optim.contiguous_param_buffer "
    "optim.capturable optim.master_weights";

struct Explained {
  const char* path;
  Use use;
  const char* expected;
  const char* text;
};
constexpr Explained kExplained[] = {
    {"mcore_customization_config.query_pre_attn_scalar", Use::kIgnored, "", ""},
    {"mcore_customization_config.attn_logit_softcapping", Use::kUnmodeled, "",
     "a bound of attention scores, inside the kernel"},
    {"mcore_customization_config.final_logit_softcapping", Use::kUnmodeled, "",
     "kernels that bound the logits"},
    {"optim.dtype", Use::kUnmodeled, "fp32", "bytes of the optimizer, in its kernel and in memory"},
    {"optim.param_sync_dtype", Use::kUnmodeled, "bf16", "bytes of parameter gathers"},
    {"optim.store_params", Use::kUnmodeled, "", "copies of the parameters in fp32"},
    {"optim.store_param_remainders", Use::kUnmodeled, "", "bytes of the optimizer"},
    {"ffn_dropout", Use::kRefused, "0.0", "dropout inside an MLP is not generated"},
    {"headscale", Use::kRefused, "", "scales of heads are not generated"},
    {"transformer_block_type", Use::kRefused, "pre_ln", "other blocks are not generated"},
    {"fsdp", Use::kRefused, "",
     "PyTorch's FSDP is described by a model.yaml (docs/how-to/describe-a-recipe.md)"},
    {"num_micro_batches_with_partial_activation_checkpoints", Use::kRefused, "",
     "micro-batches that keep different activations are not generated"},
    {"activations_checkpoint_layers_per_pipeline", Use::kRefused, "",
     "stages that keep different activations are not generated"},
    {"use_emha", Use::kRefused, "", "fused multi-head attention of Apex is not generated"},
    {"skip_train", Use::kRefused, "", "the run would have no training iteration"},
    {"retro", Use::kRefused, "", "this kind of model is not generated"},
    {"mm_cfg", Use::kRefused, "", "this kind of model is not generated"},
    {"peft", Use::kRefused, "", "adapters are not generated"},
    {"drop_layers", Use::kRefused, "", "layers that are left out are not generated"},
    {"vision_pretraining_type", Use::kRefused, "", "this kind of model is not generated"},
    {"bert_binary_head", Use::kUnmodeled, "", "the head of a second task"},
    {"add_pooler", Use::kUnmodeled, "", "a pooler of one token"},
    {"scale_positional_embedding", Use::kUnmodeled, "", "an elementwise product"},
    {"logits_soft_cap", Use::kUnmodeled, "", "an elementwise kernel on the logits"},
    {"apply_embedding_scaling", Use::kUnmodeled, "", "an elementwise product"},
    {"tp_comm_overlap_ag", Use::kUnmodeled, "", "which gathers overlap"},
    {"tp_comm_overlap_rs", Use::kUnmodeled, "", "which reductions overlap"},
};

// Arguments of the Trainer of PyTorch Lightning.
constexpr const char* kTrainerIgnored =
    "logger enable_checkpointing use_distributed_sampler replace_sampler_ddp max_epochs max_steps "
    "max_time min_epochs min_steps log_every_n_steps val_check_interval check_val_every_n_epoch "
    "limit_val_batches limit_test_batches limit_train_batches limit_predict_batches "
    "overfit_batches num_sanity_val_steps enable_progress_bar enable_model_summary benchmark "
    "default_root_dir inference_mode callbacks profiler reload_dataloaders_every_n_epochs "
    "resume_from_checkpoint fast_dev_run barebones sync_batchnorm plugins";
struct TrainerKey {
  const char* name;
  const char* expected;
  const char* text;
};
constexpr TrainerKey kTrainerRefused[] = {
    {"accelerator", "gpu", "runs on GPUs are generated"},
    {"strategy", "auto", "NeMo chooses the strategy itself; leave it out"},
    {"deterministic", "", "PyTorch's deterministic kernels are not generated; write false"},
    {"detect_anomaly", "", "checks of every gradient are not generated; write false"},
    {"gradient_clip_algorithm", "norm", "clipping by value is not generated"}};

void AddTrainer(std::vector<RecipeKey>* table) {
  std::istringstream names(kTrainerIgnored);
  for (std::string name; names >> name;) {
    table->push_back({"trainer." + name, Use::kIgnored, "", ""});
  }
  for (const TrainerKey& key : kTrainerRefused) {
    table->push_back({std::string("trainer.") + key.name, Use::kRefused, key.expected, key.text});
  }
}

std::vector<RecipeKey> MakeTable() {
  std::vector<RecipeKey> table;
  const auto pairs = [&](const char* text, Use use) {
    std::istringstream words(text);
    for (std::string key, argument; words >> key >> argument;) {
      table.push_back({"model." + key, use, argument, ""});
    }
  };
  const auto names = [&](const char* text, Use use) {
    std::istringstream words(text);
    for (std::string key; words >> key;) table.push_back({"model." + key, use, "", ""});
  };
  pairs(kValues, Use::kValue);
  pairs(kFlags, Use::kFlag);
  pairs(kFlagsOff, Use::kFlagOff);
  names(kComputed, Use::kComputed);
  names(kIgnored, Use::kIgnored);
  for (const Explained& row : kExplained) {
    table.push_back({std::string("model.") + row.path, row.use, row.expected, row.text});
  }
  for (const char* path : {"trainer.num_nodes", "trainer.devices", "trainer.precision"}) {
    table.push_back({path, Use::kComputed, "", ""});
  }
  table.push_back({"trainer.gradient_clip_val", Use::kValue, "--clip-grad", ""});
  table.push_back({"trainer.accumulate_grad_batches", Use::kRefused, "1",
                   "NeMo accumulates by global_batch_size; set it to 1"});
  AddTrainer(&table);
  for (const char* section : {"exp_manager.*", "run.*", "hydra.*", "s3_checkpointing.*", "defaults",
                              "name", "env_vars.*", "restore_from_path", "inference.*"}) {
    table.push_back({section, Use::kIgnored, "", ""});
  }
  return table;
}

}  // namespace

const std::vector<RecipeKey>& NemoKeys() {
  static const std::vector<RecipeKey> table = MakeTable();
  return table;
}

}  // namespace drydock
