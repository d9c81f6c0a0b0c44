#include <sstream>

#include "workload-gen/import/recipe/bridge_settings.h"
#include "workload-gen/import/recipe/recipe_table.h"

namespace drydock {
namespace {

using Use = RecipeKey::Use;

// Keys whose argument has another name. The fields and defaults are those of Megatron-Core's
// TransformerConfig, DistributedDataParallelConfig and OptimizerConfig, and Megatron-Bridge's
// GPTModelProvider, of August 2026.
struct Renamed {
  const char* path;
  Use use;
  const char* argument;
};
constexpr Renamed kRenamed[] = {
    {"model.num_moe_experts", Use::kValue, "--num-experts"},
    {"model.num_layers", Use::kValue, "--num-layers"},
    {"model.hidden_size", Use::kValue, "--hidden-size"},
    {"model.num_attention_heads", Use::kValue, "--num-attention-heads"},
    {"train.micro_batch_size", Use::kValue, "--micro-batch-size"},
    {"train.global_batch_size", Use::kValue, "--global-batch-size"},
    {"model.virtual_pipeline_model_parallel_size", Use::kValue,
     "--num-virtual-stages-per-pipeline-rank"},
    {"model.num_layers_in_first_pipeline_stage", Use::kValue,
     "--decoder-first-pipeline-num-layers"},
    {"model.num_layers_in_last_pipeline_stage", Use::kValue, "--decoder-last-pipeline-num-layers"},
    {"model.microbatch_group_size_per_vp_stage", Use::kValue,
     "--microbatch-group-size-per-virtual-pipeline-stage"},
    {"model.add_bias_linear", Use::kFlagOff, "--disable-bias-linear"},
    {"model.share_embeddings_and_output_weights", Use::kFlagOff,
     "--untie-embeddings-and-output-weights"},
    {"model.apply_rope_fusion", Use::kFlagOff, "--no-rope-fusion"},
    {"model.bias_activation_fusion", Use::kFlagOff, "--no-bias-swiglu-fusion"},
    {"model.overlap_p2p_comm_warmup_flush", Use::kFlag, "--overlap-p2p-communication-warmup-flush"},
    {"model.layernorm_zero_centered_gamma", Use::kFlag, "--apply-layernorm-1p"},
    {"ddp.average_in_collective", Use::kFlag, "--ddp-average-in-collective"},
    {"ddp.nccl_ub", Use::kFlag, "--use-nccl-ub"},
    {"ddp.pad_buckets_for_high_nccl_busbw", Use::kFlag, "--ddp-pad-buckets-for-high-nccl-busbw"},
    {"ddp.check_for_nan_in_grad", Use::kFlagOff, "--no-check-for-nan-in-loss-and-grad"},
    {"dist.use_megatron_fsdp", Use::kFlag, "--use-megatron-fsdp"},
    {"dist.use_torch_fsdp2", Use::kFlag, "--use-torch-fsdp2"},
    {"dist.use_tp_pp_dp_mapping", Use::kFlag, "--use-tp-pp-dp-mapping"},
    {"dist.align_grad_reduce", Use::kFlagOff, "--no-align-grad-reduce"},
    {"dist.nccl_communicator_config_path", Use::kValue, "--nccl-communicator-config-path"},
    {"dist.use_sharp", Use::kFlag, "--use-sharp"},
    {"dist.sharp_enabled_group", Use::kValue, "--sharp-enabled-group"},
};

constexpr const char* kComputed =
    "model.num_query_groups model.gated_linear_unit model.activation_func model.seq_length "
    "model.max_position_embeddings model.vocab_size model.should_pad_vocab model.window_size "
    "model.transformer_impl tokenizer.tokenizer_type tokenizer.tokenizer_model "
    "tokenizer.vocab_size env_vars.* dataset.seq_length model.recompute_method "
    "model.recompute_num_layers "
    "model.cuda_graph_scope model.cuda_graph_modules";

constexpr const char* kIgnored =
    "model.moe_grad_scale_func model.mtp_grad_scale_func model.mup_width_mult "
    "model.mup_embedding_mult model.mup_output_mult model.mup_base_head_dim "
    "model.mup_attn_scale_power model.experimental_attention_variant_loss_scale_func "
    "model.moe_router_quantile_balancing_ema model.moe_pad_experts_for_cuda_graph_inference "
    "model.inference_cuda_graph_scope model.nccl_all_reduce_for_prefill "
    "model.inference_fuse_tp_communication model.inference_disable_triton_nvls_kernels "
    "model.inference_moe_disable_fused_quant_kernels model.autocast_dtype "
    "model.barrier_with_L1_time model.beta_fast model.beta_slow "
    "model.cache_mla_latents model.cpu_offloading_activations model.cpu_offloading_weights "
    "model.deallocate_pipeline_outputs model.embedding_init_method model.init_method "
    "model.output_layer_init_method model.hf_model_id model.hf_model_revision "
    "model.hetereogenous_dist_checkpoint model.layernorm_epsilon model.log_max_attention_logit "
    "model.moe_router_topk_limited_devices model.original_max_position_embeddings "
    "model.params_dtype optimizer.params_dtype model.pipeline_dtype model.perform_initialization "
    "model.parallel_output "
    "model.rope_scaling model.scatter_embedding_sequence_parallel "
    "model.seq_len_interpolation_factor model.softmax_scale model.timers model.use_te_rng_tracker "
    "model.variable_seq_lengths model.yarn_beta_fast model.yarn_beta_slow "
    "model.yarn_correction_range_round_to_int model.yarn_mscale model.yarn_mscale_all_dim "
    "model.yarn_original_max_position_embeddings model.yarn_rotary_scaling_factor "
    "model.batch_p2p_sync model.batch_p2p_comm model.restore_modelopt_state "
    "model.transformer_layer_spec model.generation_config model.rope_scaling_factor "
    "model.grad_scale_func model.grad_sync_func model.no_sync_func model.param_sync_func "
    "model.finalize_model_grads_func model._cpu_offloading_context model._pg_collection "
    "model.moe_hybridep_num_sms_preprocessing model.moe_hybridep_num_blocks_permute "
    "model.moe_hybridep_num_blocks_unpermute model.mtp_enabled model.inference_sampling_seed "
    "model.inference_grouped_gemm_backend model.inference_moe_token_dispatcher_type "
    "model.mlp_chunks_for_prefill model.mhc_init_gating_factor model.mhc_num_residual_streams "
    "model.mhc_sinkhorn_iterations model.gdp_num_chunk_states_to_recompute "
    "model.gdp_num_householder model.qk_clip_alpha model.qk_clip_threshold "
    "model.moe_paged_stash_buffer_size_factor_cpu model.moe_paged_stash_buffer_size_factor_cuda "
    "model.moe_paged_stash_page_size model.kitchen_attention_backend model.batch_invariant_backend "
    "model.cuda_graph_use_single_mempool model.tp_comm_bulk_dgrad model.tp_comm_bulk_wgrad "
    "optimizer.timers optimizer.barrier_with_L1_time "
    "optimizer.decoupled_weight_decay optimizer.store_param_remainders "
    "optimizer.grad_norm_skip_threshold optimizer.pin_cpu_grads optimizer.pin_cpu_params "
    "optimizer.apply_wd_to_qk_layernorm optimizer.lion_beta1 optimizer.lion_beta2 "
    "optimizer.soap_shampoo_beta optimizer.soap_use_kl_shampoo optimizer.adaptive_muon_beta2 "
    "optimizer.adaptive_muon_eps optimizer.adaptive_muon_moment2_method optimizer.finetune_lr "
    "ddp.fsdp_all_gather_in_start_param_sync ddp.param_name_patterns_for_fp32_local_accumulation "
    "train.num_epochs train.check_optimizer_step_success train.skip_sync_grad_norm_across_mp "
    "train.exit_signal train.exit_signal_handler_for_dataloader "
    "train.exit_signal_handler_for_training train.manual_gc_eval train.gpu_sniff_test_interval "
    "train.train_iters "
    "scheduler.* logger.* checkpoint.* rng.* validation.* rerun_state_machine.* straggler.* "
    "nvrx_straggler.* profiling.* ft.* inprocess_restart.* tensor_inspect.* dataset.* tokenizer.* "
    "optimizer_config_override_provider.* dataset.packed_sequence_specs.* "
    "dist.distributed_timeout_minutes dist.local_rank "
    "dist.lazy_mpu_init dist.lazy_init dist.use_gloo_process_groups "
    "dist.high_priority_stream_groups dist.distributed_timeout_seconds_after_init "
    "dist.flight_recorder_dump_path dist.flight_recorder_trace_buffer_size "
    "dist.flight_recorder_dump_on_timeout dist.flight_recorder_include_stack_trace "
    "dist.flight_recorder_include_only_active dist.flight_recorder_extra_dump_on_exec "
    "dist.external_gpu_device_mapping dist.enable_megatron_core_experimental "
    "dist.use_decentralized_pg dist.eval_context_parallel_size";

// Fields with one value that is generated: the default of Megatron-Core.
constexpr const char* kDefaults =
    "model.max_seqlen_per_dp_cp_rank= model.mtp_hsm=false "
    "model.moe_shared_expert_glu_interleave_size= model.moe_enable_routing_replay=false "
    "model.moe_single_grouped_weight=false model.moe_single_grouped_bias=false "
    "model.moe_hybridep_pad_uneven_dispatch_inputs=false model.gtp_remat_opt_in_modules= "
    "model.moe_ncclep_zero_copy=false model.mamba_training_ssm_states_dtype= "
    "model.attention_output_gate=false model.disable_parameter_transpose_cache=false "
    "model.dense_grouped_gemm=false model.enable_autocast=false "
    "model.enable_mhc_connections=false model.batch_invariant_mode=false "
    "model.cpu_offloading_double_buffering=false "
    "model.cpu_offloading_retain_pinned_cpu_buffers=false "
    "model.cuda_graph_retain_backward_graph=false "
    "model.ep_overlap_early_attn_memory_release=false model.expert_gtp_weight_remat_size=1 "
    "model.expert_tensor_parallel_num_weight_shards= model.flash_attention_version= "
    "model.fp8_output_proj=false model.fused_residual_rmsnorm=false "
    "model.fused_single_qkv_rope=false model.gdp_cutedsl_kernel=false "
    "model.gtp_weight_remat_size=1 model.heterogeneous_block_specs=false "
    "model.high_priority_a2a_comm_stream=false model.hybrid_context_parallel=false "
    "model.logit_dtype= model.memory_efficient_layer_norm=false model.mhc_recompute_layer_num= "
    "model.mla_down_proj_fusion=false model.mlp_chunks_for_training=1 "
    "model.moe_combine_bwd_dtype=bf16 model.moe_dispatch_fwd_dtype=bf16 "
    "model.moe_expert_rank_capacity_factor= model.moe_flex_dispatcher_num_sms= "
    "model.moe_mlp_glu_interleave_size= model.moe_paged_stash=false "
    "model.moe_permute_fusion_into_hybridep=false model.moe_router_force_biased= "
    "model.moe_token_dropping=false model.moe_use_grouped_tensor=false "
    "model.mtp_hybrid_override_pattern= model.mtp_standalone=false model.mtp_detach_heads=false "
    "model.num_microbatches_with_partial_activation_checkpoints= "
    "model.overlap_dispatch_backward_with_experts_wgrad=false model.qk_clip=false "
    "model.quant_recipe= model.symmetric_ar_type= model.tensor_parallel_num_weight_shards= "
    "model.tp_comm_atomic_ag=false model.tp_comm_atomic_rs=false model.tp_comm_overlap_ag=true "
    "model.tp_comm_overlap_rs=true model.tp_comm_split_ag=true model.tp_comm_split_rs=true "
    "model.tp_comm_overlap_disable_fc1=false model.tp_comm_overlap_disable_qkv=false "
    "model.use_arbitrary_attention_mask=false model.use_grouped_gemm_for_dense_mlp=false "
    "model.use_grouped_gemm_for_shared_expert=false "
    "model.use_inference_optimized_layers=false model.use_kitchen=false "
    "model.use_kitchen_attention=false model.use_mamba_mem_eff_path=true model.use_mup=false "
    "model.use_transformer_engine_full_layer_spec=false ddp.num_buckets= "
    "ddp.reduce_scatter_with_fp32_accumulation=false ddp.gradient_reduce_div_fusion=true "
    "ddp.megatron_fsdp_use_decoupled_grad=false "
    "ddp.megatron_fsdp_cuda_graph_mode=false optimizer.use_layer_wise_distributed_optimizer=false "
    "optimizer.muon_split_qkv=true optimizer.optimizer_cuda_graph=false train.skip_train=false "
    "train.step_batch_size_schedule= peft= dist.distributed_backend=nccl "
    "dist.disable_jit_fuser=false dataset.packed_sequence_specs= "
    "dataset.packed_sequence_specs.packed_sequence_size=-1 _checkpoint_load_required=false";

std::vector<RecipeKey> MakeTable() {
  std::vector<RecipeKey> table;
  for (const Renamed& row : kRenamed) table.push_back({row.path, row.use, row.argument, ""});
  const auto names = [&](const char* text, Use use) {
    std::istringstream words(text);
    for (std::string path; words >> path;) table.push_back({path, use, "", ""});
  };
  names(kComputed, Use::kComputed);
  names(kIgnored, Use::kIgnored);
  std::istringstream defaults(kDefaults);
  for (std::string word; defaults >> word;) {
    const size_t equals = word.find('=');
    const std::string value = word.substr(equals + 1);
    table.push_back({word.substr(0, equals), Use::kRefused, value,
                     value.empty() ? "this is not generated; leave it out"
                                   : "only " + value + " is generated"});
  }
  for (const RecipeKey& key : BridgeSettingKeys()) table.push_back(key);
  return table;
}

}  // namespace

const std::vector<RecipeKey>& BridgeKeys() {
  static const std::vector<RecipeKey> table = MakeTable();
  return table;
}

}  // namespace drydock
