#include <sstream>

#include "workload-gen/import/megatron/megatron_arguments.h"
#include "workload-gen/job/inference_scope.h"
#include "workload-gen/job/key.h"

namespace drydock {
namespace {

using Effect = MegatronArgument::Effect;

struct Names {
  char values;
  Effect effect;
  const char* names;
};

// Sorted by subject. The arguments of kUsed are those from which computed_*.cc compute keys; the
// table of keys has the others.
constexpr Names kPlain[] = {
    {'1', Effect::kUsed,
     "--num-query-groups --window-size --window-attn-skip-freq "
     "--max-position-embeddings --position-embedding-type "
     "--normalization --clip-grad --recompute-granularity "
     "--cross-entropy-fusion-impl --optimizer "
     "--fp8-format --fp8-recipe --fp4-format --fp4-recipe --num-layers-at-start-in-bf16 "
     "--num-layers-at-end-in-bf16 --transformer-impl --attention-backend "
     "--num-layers-per-virtual-pipeline-stage --num-virtual-stages-per-pipeline-rank "
     "--vocab-size --padded-vocab-size --tokenizer-type --num-experts --moe-layer-freq "
     "--moe-router-topk --moe-token-dispatcher-type --moe-flex-dispatcher-backend "
     "--moe-deepep-num-sms --moe-hybridep-num-sms --q-lora-rank --kv-lora-rank --qk-head-dim "
     "--qk-pos-emb-head-dim --v-head-dim --loss-scale --main-grads-dtype --cuda-graph-impl "
     "--tp-comm-overlap-cfg --hybrid-layer-pattern --hybrid-override-pattern --softmax-type "
     "--linear-attention-freq --experimental-attention-variant --dsa-indexer-n-heads "
     "--dsa-indexer-head-dim --dsa-indexer-topk --dsa-indexer-loss-coeff --dsa-kernel-backend "
     "--data-parallel-sharding-strategy --outer-dp-sharding-strategy "
     "--suggested-communication-unit-size --megatron-fsdp-main-grads-dtype --sliding-window "
     "--megatron-fsdp-grad-comm-dtype --muon-num-ns-steps --muon-tp-mode "
     "--cpu-offloading-num-layers --min-offloaded-tensor-size --hybrid-attention-ratio "
     "--hybrid-mlp-ratio"},
    {'0', Effect::kUsed,
     "--group-query-attention --use-rotary-position-embeddings --no-position-embedding "
     "--squared-relu --swiglu --quick-geglu --multi-latent-attention --recompute-activations "
     "--moe-layer-recompute --no-check-for-nan-in-loss-and-grad --cross-entropy-loss-fusion "
     "--use-flash-attn --fp16 --bf16 --grad-reduce-in-bf16 "
     "--accumulate-allreduce-grads-in-fp32 --no-overlap-p2p-communication --use-nccl-ub "
     "--disable-symmetric-registration --moe-grouped-gemm --moe-enable-deepep "
     "--moe-router-force-load-balancing "
     "--moe-use-legacy-grouped-gemm --enable-cuda-graph --external-cuda-graph --is-hybrid-model "
     "--first-last-layers-bf16 --use-megatron-fsdp --use-custom-fsdp --fsdp-double-buffer "
     "--calculate-per-token-loss --megatron-fsdp-max-pool-double-buffer "
     "--cpu-offloading --muon-nesterov --muon-no-split-qkv --no-use-layer-wise-param-layout "
     "--fine-grained-activation-offloading --dsa-indexer-use-sparse-loss --enable-gpt-oss"},
    {'+', Effect::kUsed,
     "--step-batch-size-schedule --recompute-modules --cp-comm-type "
     "--hierarchical-context-parallel-sizes "
     "--moe-router-load-balancing-type --moe-aux-loss-coeff --cuda-graph-modules "
     "--cuda-graph-scope --spec --offload-modules"},
    {'1', Effect::kHint, "--tokenizer-model --patch-tokenizer-type --extra-vocab-size"},
    {'1', Effect::kIgnored,
     "--eval-global-batch-size --eval-micro-batch-size --log-memory-interval "
     "--dataloader-defer-npy-index-mmap --no-weight-decay-cond-type --dist-ckpt-workers "
     "--mup-base-hidden-size --head-lr-mult --lion-beta1 --lion-beta2 --yarn-beta-fast "
     "--yarn-beta-slow --yarn-original-max-position-embeddings --otel-service-name "
     "--otel-span-groups --override-ckpt-iteration --per-dataset-sequences-path "
     "--ft-num-warmup-iters --fake-process-group --gpu-sniff-test-interval"},
    {'0', Effect::kIgnored,
     "--export-force-local-attention --use-mup --apply-wd-to-qk-layernorm "
     "--dataloader-fast-cache-load --enable-msc "
     "--dump-param-to-param-group-map --otel-enabled --no-yarn-correction-range-round-to-int "
     "--yarn-correction-range-round-to-int --use-same-sampling-seed-across-dp-ranks "
     // Of older releases.
     "--log-batch-size-to-tensorboard --log-learning-rate-to-tensorboard --no-save-rng-state "
     "--no-query-key-layer-scaling"},
    {'1', Effect::kIgnored, "--DDP-impl"},
    // Of Pai-Megatron-Patch.
    {'1', Effect::kIgnored,
     "--dataset --train-mode --max-padding-length --patch-vocab-file --data-impl --epochs "
     "--keep-last --source-seq-len --target-seq-len --generation-length --qk-nope-head-dim "
     "--qk-rope-head-dim"},
    {'1', Effect::kIgnored,
     "--rotary-base --rotary-percent --rotary-seq-len-interpolation-factor --rope-scaling-factor "
     "--rope-type --norm-epsilon --dsa-indexer-k-norm-epsilon --mtp-loss-scaling-factor "
     "--rotary-scaling-factor --mscale "
     "--mscale-all-dim --glu-linear-offset "
     "--onnx-safe --straggler-ctrlr-port --straggler-minmax-count --one-logger-project "
     "--one-logger-run-name --app-tag-run-name --app-tag-run-version --config-logger-dir "
     "--timing-log-level --timing-log-option --tensorboard-log-interval --tensorboard-queue-size "
     "--wandb-project --wandb-entity --wandb-exp-name --wandb-save-dir --logging-level "
     "--weight-decay --start-weight-decay --end-weight-decay --weight-decay-incr-style "
     "--muon-momentum --muon-scale-mode --muon-extra-scale-factor "
     "--adam-beta1 --adam-beta2 --adam-eps --sgd-momentum --profile-step-start --profile-step-end "
     "--result-rejected-tracker-filename --memory-snapshot-path "
     "--tp-comm-bootstrap-backend --empty-unused-memory-level "
     "--check-weight-hash-across-dp-replicas-interval --train-sync-interval --train-iters "
     "--train-samples --log-interval --exit-interval --exit-duration-in-mins --tensorboard-dir "
     "--dataloader-type --manual-gc-interval --error-injection-rate --error-injection-type "
     "--rerun-mode --seed --init-method-std --embedding-init-method-std --lr --lr-decay-style "
     "--lr-wsd-decay-style --lr-decay-iters --lr-decay-samples --lr-wsd-decay-samples "
     "--lr-wsd-decay-iters --lr-warmup-fraction --lr-warmup-iters --lr-warmup-samples "
     "--lr-warmup-init --min-lr --decoupled-lr --decoupled-min-lr --save --save-interval "
     "--persistent-save-interval --save-retain-interval --load --non-persistent-save-interval "
     "--non-persistent-ckpt-type --non-persistent-global-ckpt-dir --non-persistent-local-ckpt-dir "
     "--non-persistent-local-ckpt-algo --pretrained-checkpoint --ckpt-step --dist-ckpt-format "
     "--ckpt-format --ckpt-convert-format --ckpt-convert-save --dist-ckpt-strictness "
     "--initial-loss-scale --min-loss-scale --loss-scale-window --hysteresis "
     "--distributed-backend --distributed-timeout-minutes "
     "--distributed-timeout-seconds-after-init --local-rank --lazy-mpu-init "
     "--replication-jump --replication-factor --eval-iters --eval-interval --vocab-file "
     "--merge-file --vocab-extra-ids --tokenizer-metadata --tiktoken-pattern "
     "--tiktoken-num-special-tokens --split --data-args-path --per-split-data-args-path "
     "--data-cache-path --sample-rate --mask-prob --short-seq-prob --num-workers "
     "--num-dataset-builder-threads --object-storage-cache-path --mid-level-dataset-surplus "
     "--adlr-autoresume-interval --moe-router-score-function "
     "--moe-router-topk-scaling-factor --moe-router-bias-update-rate "
     "--moe-input-jitter-eps --moe-token-drop-policy --moe-upcycling-granularity "
     "--fp8-margin --fp8-interval --fp8-amax-history-len --fp8-amax-compute-algo "
     "--sft-tokenizer-prompt-format --relative-attention-num-buckets "
     "--relative-attention-max-distance "
     "--async-strategy --fim-rate --fim-spm-rate --img-h --img-w --patch-dim "
     "--cuda-graph-warmup-steps --optimizer-offload-fraction"},
    {'0', Effect::kIgnored,
     "--dsa-indexer-rope-interleaved --rotary-interleaved --use-rope-scaling --apply-layernorm-1p "
     "--openai-gelu "
     "--bert-no-binary-head --log-straggler --disable-straggler-on-startup "
     "--run-workload-inspector-server --no-one-logger --one-logger-async --enable-ft-package "
     "--calc-ft-timeouts --log-throughput --log-progress "
     "--log-energy --no-barrier-with-level-1-timing --log-timers-to-tensorboard "
     "--no-log-loss-scale-to-tensorboard --log-validation-ppl-to-tensorboard "
     "--log-memory-to-tensorboard --log-world-size-to-tensorboard --decrease-batch-size-if-needed "
     "--check-for-spiky-loss --check-for-large-grads --no-clone-scatter-output-in-embedding "
     "--profile --disable-gloo-process-groups --use-pytorch-profiler --record-memory-history "
     "--use-cpu-initialization --exit-signal-handler "
     "--no-async-tensor-model-parallel-allreduce --no-persist-layer-norm --use-mcore-models "
     "--manual-gc --no-manual-gc-eval --data-parallel-random-init --init-method-xavier-uniform "
     "--override-opt_param-scheduler --override-opt-param-scheduler "
     "--use-checkpoint-opt_param-scheduler --use-checkpoint-opt-param-scheduler --no-save-optim "
     "--no-save-rng --no-load-optim --load-main-params-from-ckpt --no-load-rng "
     "--no-strict-fsdp-dtensor-load --finetune --no-initialization --use-checkpoint-args "
     "--use-mp-args-from-checkpoint-args --no-use-tokenizer-model-from-checkpoint-args "
     "--exit-on-missing-checkpoint --use-dist-ckpt --use-persistent-ckpt-worker "
     "--auto-detect-ckpt-format --ckpt-convert-update-legacy-dist-opt-format "
     "--ckpt-fully-parallel-save --no-ckpt-fully-parallel-save --async-save "
     "--ckpt-fully-parallel-load --ckpt-assume-constant-structure --dist-ckpt-save-pre-mcore-014 "
     "--dist-ckpt-optim-fully-reshardable --distrib-optim-fully-reshardable-mem-efficient "
     "--apply-query-key-layer-scaling --attention-softmax-in-fp32 "
     "--disable-bf16-reduced-precision-matmul --replication --full-validation "
     "--multiple-validation-sets --test-mode --legacy-tokenizer --trust-remote-code "
     "--no-mmap-bin-files --mock-data --reset-position-ids --reset-attention-mask --eod-mask-loss "
     "--no-create-attention-mask-in-dataloader --allow-ambiguous-pad-tokens --adlr-autoresume "
     "--moe-use-upcycling --moe-per-layer-logging "
     "--moe-router-pre-softmax --moe-apply-probs-on-input --te-rng-tracker --inference-rng-tracker "
     "--enable-experimental --use-precision-aware-optimizer --disable-msc --sft "
     "--verify-integrity --async-ckpt-use-cpu-shm --fim-data --export-te-mcore-model "
     "--ckpt-fully-parallel-load-per-rank-objects --no-ckpt-load-validate-sharding-integrity "
     "--ckpt-drop-redundant-extra-state --inprocess-restart --no-pin-cpu-grads --no-pin-cpu-params "
     "--use-te-activation-func --init-model-with-meta-device --fsdp-manual-registration "
     "--fsdp-db-use-persist-buf-on-alloc-fail "
     "--use-torch-optimizer-for-cpu-offload --overlap-cpu-optimizer-d2h-h2d "
     "--delay-offload-until-cuda-graph"},
    {'+', Effect::kIgnored,
     "--iterations-to-skip --profile-ranks --rampup-batch-size --data-path --train-data-path "
     "--valid-data-path --test-data-path --tiktoken-special-tokens --high-priority-stream-groups "
     "--mrope-section --offload-tensors"},
};

struct Explained {
  const char* name;
  char values;
  const char* text;
};

constexpr Explained kUnmodeled[] = {
    {"--fp8-quantizer-factory", '1', "which kernels quantize"},
    {"--no-fp8-wgrad", '0', "weight gradients in higher precision"},
    {"--fp4-quantizer-factory", '1', "which kernels quantize"},
    {"--reuse-grad-buf-for-mxfp8-param-ag", '0', "memory of parameter gathers"},
    {"--keep-fp8-transpose-cache", '0', "kernels that transpose"},
    {"--no-rope-freq", '1', "layers without rotary kernels"},
    {"--qk-l2-norm", '0', "a norm without weights"},
    {"--apply-residual-connection-post-layernorm", '0', "where the residual begins"},
    {"--no-bias-gelu-fusion", '0', "activation kernels"},
    {"--no-bias-swiglu-fusion", '0', "activation kernels"},
    {"--no-bias-dropout-fusion", '0', "residual kernels"},
    {"--use-fused-weighted-squared-relu", '0', "activation kernels"},
    {"--tp-comm-overlap-rs-dgrad", '0', "which reductions overlap"},
    {"--overlap-p2p-communication-warmup-flush", '0', "overlap at a pipeline's ends"},
    {"--defer-embedding-wgrad-compute", '0', "when the head's gradient is computed"},
    {"--wgrad-deferral-limit", '1', "when the head's gradient is computed"},
    {"--no-align-grad-reduce", '0', "when stages reduce gradients"},
    {"--no-align-param-gather", '0', "when stages gather parameters"},
    {"--overlap-param-gather-with-optimizer-step", '0', "when the first bucket is gathered"},
    {"--ddp-pad-buckets-for-high-nccl-busbw", '0', "padding of buckets"},
    {"--ddp-average-in-collective", '0', "where gradients are divided"},
    {"--no-gradient-reduce-div-fusion", '0', "where gradients are divided"},
    {"--ddp-reduce-scatter-with-fp32-accumulation", '0', "how gradients are scattered"},
    {"--no-scatter-gather-tensors-in-pipeline", '0', "how stages exchange messages"},
    {"--use-ring-exchange-p2p", '0', "how stages exchange messages"},
    {"--pipeline-model-parallel-comm-backend", '1', "how stages exchange messages"},
    {"--use-sharp", '0', "which groups may use SHARP; cluster.topo says whether there is any"},
    {"--sharp-enabled-group", '1', "which groups may use SHARP"},
    {"--nccl-communicator-config-path", '1', "settings of communicators"},
    {"--moe-router-dtype", '1', "the router's kernels"},
    {"--moe-router-num-groups", '1', "which hosts a token is sent to"},
    {"--moe-router-group-topk", '1', "which hosts a token is sent to"},
    {"--exp-avg-dtype", '1', "bytes of the optimizer, in its kernel and in memory"},
    {"--exp-avg-sq-dtype", '1', "bytes of the optimizer, in its kernel and in memory"},
    {"--main-params-dtype", '1', "bytes of the optimizer, in its kernel and in memory"},
    {"--create-all-gather-group", '0', "gathers of Megatron-FSDP beside its reductions"},
    {"--megatron-fsdp-enable-fine-grained-param-gather", '0', "gathers of parts of a layer"},
    {"--megatron-fsdp-main-params-dtype", '1', "bytes of the optimizer, in its kernel and memory"},
    {"--muon-fp32-matmul-prec", '1', "the type of Newton-Schulz products (bf16)"},
    {"--muon-coefficient-type", '1', "Newton-Schulz steps without a second product"},
    {"--muon-use-syrk", '0', "Newton-Schulz products that are half computed"},
    {"--muon-scalar-optimizer", '1', "the optimizer of parameters that are no matrices"},
    {"--fp16-lm-cross-entropy", '0', "the loss in fp16"},
    {"--moe-z-loss-coeff", '1', "a loss"},
    {"--moe-permute-fusion", '0', "permutation kernels"},
    {"--mtp-use-repeated-layer", '0', "one layer for all depths of multi-token prediction"},
    {"--disable-mamba-mem-eff-path", '0', "which tensors a Mamba-2 layer keeps"},
    {"--no-dsa-indexer-rotate-activation", '0', "an indexer without a Hadamard transform"},
    {"--no-dsa-indexer-scoring-relu", '0', "an indexer that keeps negative scores"},
    {"--dsa-indexer-k-norm-fp32", '0', "a norm of the indexer's keys in fp32"},
    {"--linear-conv-kernel-dim", '1', "rows of the convolution of a gated delta net (4)"},
};

constexpr const char* kOtherModel = "this kind of model is not generated";
constexpr const char* kImages = "a tower of images beside the language model is not generated";
constexpr const char* kFsdp =
    "of Megatron-LM, its own data parallelism and Megatron-FSDP are read; write a model.yaml for "
    "PyTorch's FSDP and DeepSpeed";
constexpr const char* kOffload =
    "all groups of --offload-modules are offloaded, except for the last ones of a pass; leave this "
    "out";
constexpr const char* kInflight =
    "compute does not wait for copies of --offload-modules to the host; leave this out";
constexpr const char* kShared =
    "every layer has an indexer; layers that share their picks are not generated";
constexpr const char* kOptimizer = "optimizers run on the GPU";

constexpr const char* kDistillation = "the teacher of a distillation is not generated";

constexpr Explained kRefused[] = {
    {"--export-kd-teacher-load", '1', kDistillation},
    {"--export-kd-cfg", '1', kDistillation},
    {"--flextron", '0', kOtherModel},
    {"--model-provider", '1', kOtherModel},
    {"--mla-down-proj-fusion", '0', "fused projections of latent attention are not generated"},
    {"--fp8-multi-head-attention", '0',
     "projections that hand fp8 to attention are not generated; --fp8-dot-product-attention is"},
    {"--decoder-num-layers", '1', kOtherModel},
    {"--decoder-seq-length", '1', kOtherModel},
    {"--heterogeneous-layers-config-path", '1', kOtherModel},
    {"--heterogeneous-layers-config-encoded-json", '1', kOtherModel},
    {"--vision-model-type", '1', kImages},
    {"--disable-vision-class-token", '0', kImages},
    {"--allow-missing-vision-projection-checkpoint", '0', kImages},
    {"--freeze-ViT", '0', kImages},
    {"--freeze-LM", '0', kImages},
    {"--patch-size", '1', kImages},
    {"--language-model-type", '1', kImages},
    {"--max-num-tiles", '1', kImages},
    {"--use-tiling", '0', kImages},
    {"--use-thumbnail", '0', kImages},
    {"--pixel-shuffle", '0', kImages},
    {"--image-tag-type", '1', kImages},
    {"--retro-add-retriever", '0', kOtherModel},
    {"--vision-pretraining", '0', kOtherModel},
    {"--use-legacy-models", '0', "only models of Megatron-Core are generated"},
    {"--fp32-residual-connection", '0', "activations in fp32 are not generated"},
    {"--distribute-saved-activations", '0',
     "saved activations split over tensor parallelism are not generated"},
    {"--activation-offload-fraction", '1', kOffload},
    {"--delta-offload-bytes-across-pp-ranks", '1', kOffload},
    {"--fine-grained-offloading-max-inflight-offloads", '1', kInflight},
    {"--optimizer-cpu-offload", '0', kOptimizer},
    {"--dsa-indexer-topk-freq", '1', kShared},
    {"--dsa-indexer-skip-topk-offset", '1', kShared},
    {"--ddp-num-buckets", '1',
     "the size of buckets is read, not their number; give "
     "--ddp-bucket-size"},
    {"--megatron-fsdp-version", '1', "of Megatron-FSDP, version 1 is generated"},
    {"--use-torch-fsdp2", '0', kFsdp},
    {"--deepspeed", '0', kFsdp},
    {"--deepspeed_config", '1', kFsdp},
    {"--zero-stage", '1', kFsdp},
    {"--yaml-cfg", '1', "arguments in another file are not read"},
    {"--batch-size", '1', "Megatron-LM removed it; give --micro-batch-size"},
    {"--model-parallel-size", '1', "Megatron-LM removed it; give --tensor-model-parallel-size"},
    {"--checkpoint-activations", '0', "Megatron-LM removed it; give --recompute-activations"},
    {"--warmup", '1', "Megatron-LM removed it; give --lr-warmup-fraction"},
    {"--skip-train", '0', "the run would have no training iteration"},
    {"--perform-rl-step", '0', "reinforcement learning is not generated"},
    {"--flash-decode", '0', kInferenceText},
    {"--use-legacy-static-engine", '0', kInferenceText},
    {"--inference-dynamic-batching", '0', kInferenceText},
    {"--inference-batch-times-seqlen-threshold", '1', kInferenceText},
    {"--inference-max-requests", '1', kInferenceText},
    {"--inference-max-seq-length", '1', kInferenceText},
    {"--inference-max-batch-size", '1', kInferenceText},
    {"--inference-dynamic-batching-buffer-size-gb", '1', kInferenceText},
    {"--max-tokens-to-oom", '1', kInferenceText},
    {"--num-tokens-to-generate", '1', kInferenceText},
};

// Adds the arguments that give a key of model.yaml its value without a computation.
void AddPlainSources(std::map<std::string, MegatronArgument>* table) {
  for (const Section& section : Sections()) {
    for (const Key& key : section.keys) {
      for (const MegatronSource& source : key.megatron) {
        if (source.use == MegatronSource::Use::kComputed) continue;
        const char values = source.use == MegatronSource::Use::kCopied ? '1' : '0';
        (*table)[source.argument] = {source.argument, values, Effect::kUsed, ""};
      }
    }
  }
}

std::map<std::string, MegatronArgument> MakeTable() {
  std::map<std::string, MegatronArgument> table;
  AddPlainSources(&table);
  for (const Names& row : kPlain) {
    std::istringstream names(row.names);
    for (std::string name; names >> name;) table[name] = {name, row.values, row.effect, ""};
  }
  for (const Explained& row : kUnmodeled) {
    table[row.name] = {row.name, row.values, Effect::kUnmodeled, row.text};
  }
  for (const Explained& row : kRefused) {
    table[row.name] = {row.name, row.values, Effect::kRefused, row.text};
  }
  return table;
}

}  // namespace

const std::map<std::string, MegatronArgument>& MegatronArguments() {
  static const std::map<std::string, MegatronArgument> table = MakeTable();
  return table;
}

}  // namespace drydock
