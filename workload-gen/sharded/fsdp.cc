#include "workload-gen/sharded/fsdp.h"

#include <fmt/format.h>

#include "core/model/attention_backend.h"
#include "workload-gen/sharded/fsdp_hooks.h"
#include "workload-gen/sharded/shard_memory.h"
#include "workload-gen/sharded/torch_framework.h"

namespace drydock {
namespace {

class Fsdp : public Framework {
 public:
  Status Check(const TrainingJob& job) const override {
    RETURN_IF_ERROR(CheckTorchJob(job));
    Diagnostics diagnostics;
    if (job.parallel.tensor > 1 && !job.parallel.sequence_parallel) {
      diagnostics.Add(
          job.ErrorAt("parallel.sequence_parallel",
                      "torchtitan splits activations wherever it splits layers: with tensor > 1 "
                      "sequence_parallel must be true"));
    }
    if (job.model.embedding.tied && job.parallel.pipeline > 1) {
      diagnostics.Add(job.ErrorAt("model.tied_embedding",
                                  "torchtitan's pipelines share no embedding between stages: with "
                                  "pipeline > 1 tied_embedding must be false"));
    }
    if (job.parallel.context > 1 && ExchangesHeads(job.parallel.context_type)) {
      diagnostics.Add(job.ErrorAt("parallel.context_type",
                                  "torchtitan's context parallelism exchanges keys and values: "
                                  "context_type must be p2p or allgather"));
    }
    if (job.model.moe.experts > 0 && job.fsdp.replicas > 1) {
      diagnostics.Add(job.ErrorAt("fsdp.replicas",
                                  "replicas of a model with experts are not generated for "
                                  "framework fsdp"));
    }
    if (job.fsdp.version == 1 && job.parallel.expert > 1) {
      diagnostics.Add(job.ErrorAt("fsdp.version",
                                  "FullyShardedDataParallel shards all parameters over the same "
                                  "ranks: with expert > 1 version must be 2"));
    }
    if (job.training.precision.type != DataType::kBf16) {
      diagnostics.Add(job.ErrorAt("training.precision",
                                  "FSDP does not scale the loss: precision must be bf16"));
    }
    CheckAsyncTensor(job, &diagnostics);
    CheckFp8Gather(job, &diagnostics);
    return diagnostics.ToStatus();
  }

  static void CheckAsyncTensor(const TrainingJob& job, Diagnostics* diagnostics) {
    if (!job.fsdp.async_tensor) return;
    if (job.parallel.tensor < 2) {
      diagnostics->Add(job.ErrorAt("fsdp.async_tensor", "'async_tensor' needs tensor > 1"));
    }
    if (!job.training.kernels.fused) {
      diagnostics->Add(job.ErrorAt("fsdp.async_tensor",
                                   "'async_tensor' needs kernels: fused: torch.compile splits the "
                                   "products"));
    }
  }

  static void CheckFp8Gather(const TrainingJob& job, Diagnostics* diagnostics) {
    if (!job.fsdp.fp8_all_gather) return;
    if (job.fsdp.version == 1) {
      diagnostics->Add(job.ErrorAt("fsdp.fp8_all_gather",
                                   "FullyShardedDataParallel gathers flat parameters of one type: "
                                   "'fp8_all_gather' needs version: 2"));
    }
    if (job.fsdp.fp8_recipe == Fp8Scales::kRowwise) {
      diagnostics->Add(job.ErrorAt("fsdp.fp8_all_gather",
                                   "torchao gathers weights in fp8 with the scale of a tensor: "
                                   "'fp8_all_gather' needs fp8_recipe: tensorwise"));
    }
  }

  Status CheckLayout(const TrainingJob& job, const ParallelLayout& layout) const override {
    const int replicas = job.fsdp.replicas, data = layout.data;
    if (data % replicas != 0) {
      return job.ErrorAt("fsdp.replicas",
                         fmt::format("replicas {} does not divide data {}", replicas, data));
    }
    if (replicas > 1 && data == replicas) {
      return job.ErrorAt("fsdp.replicas",
                         fmt::format("replicas {} of data {} leaves one rank per model and nothing "
                                     "to shard: replicas must be at most {}",
                                     replicas, data, data / 2));
    }
    return OkStatus();
  }

  const char* AttentionBackend() const override { return kAttentionByPytorch; }

  Workload Build(const TrainingJob& job, const ParallelLayout& layout, const Topology& topology,
                 const MemoryDetail& detail) const override {
    const FsdpPlan plan = MakeFsdpPlan(job, layout);
    return BuildTorchWorkload(job, layout, topology, plan.replicas, detail,
                              [&](const TorchContext& context) {
                                FsdpHooks hooks(context, plan);
                                WriteTorchStage(context, &hooks);
                                StateMemory states = FsdpStates(context, plan);
                                states.held = hooks.TakeHeld();
                                return states;
                              });
  }
};

}  // namespace

std::unique_ptr<Framework> MakeFsdp() { return std::make_unique<Fsdp>(); }

}  // namespace drydock
