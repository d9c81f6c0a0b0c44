#include "workload-gen/sharded/deepspeed.h"

#include <fmt/format.h>

#include "core/model/attention_backend.h"
#include "workload-gen/sharded/shard_memory.h"
#include "workload-gen/sharded/torch_framework.h"
#include "workload-gen/sharded/zero_hooks.h"

namespace drydock {
namespace {

class DeepSpeed : public Framework {
 public:
  Status Check(const TrainingJob& job) const override {
    RETURN_IF_ERROR(CheckTorchJob(job));
    Diagnostics diagnostics;
    const auto fail = [&](const char* key, const std::string& message) {
      diagnostics.Add(job.ErrorAt(key, message));
    };
    if (job.parallel.pipeline > 1 && job.zero.stage > 1) {
      fail("parallel.pipeline",
           fmt::format("DeepSpeed's pipelines need ZeRO stage 1; with stage {} pipeline must "
                       "be 1",
                       job.zero.stage));
    }
    if (job.parallel.virtual_pipeline > 1) {
      fail("parallel.virtual_pipeline",
           "DeepSpeed's pipelines do not interleave: virtual_pipeline must be 1");
    }
    if (job.training.recompute.granularity == Recompute::kSelective) {
      fail("training.recompute",
           "DeepSpeed checkpoints whole layers: recompute must be none or full");
    }
    if (job.model.embedding.tied && job.parallel.pipeline > 1) {
      fail("model.tied_embedding",
           "an embedding that stages share is not generated for framework deepspeed: with "
           "pipeline > 1 tied_embedding must be false");
    }
    if (job.training.precision.quantized()) {
      fail("training.precision",
           "DeepSpeed runs no GEMMs in fp8 or NVFP4: precision must be fp16 or bf16");
    }
    if (job.parallel.context > 1 && job.parallel.context_type != ContextType::kAllToAll) {
      fail("parallel.context_type",
           "DeepSpeed's sequence parallelism (Ulysses) exchanges heads: context_type must be a2a");
    }
    if (job.model.moe.experts > 0 && job.zero.stage == 3) {
      fail("zero.stage", "DeepSpeed's experts need ZeRO stage 1 or 2");
    }
    if (job.model.moe.experts > 0 && job.parallel.pipeline > 1) {
      fail("parallel.pipeline", "DeepSpeed's pipelines run no experts: pipeline must be 1");
    }
    return diagnostics.ToStatus();
  }

  const char* AttentionBackend() const override { return kAttentionByPytorch; }

  Workload Build(const TrainingJob& job, const ParallelLayout& layout, const Topology& topology,
                 const MemoryDetail& detail) const override {
    return BuildTorchWorkload(job, layout, topology, /*replicas=*/1, detail,
                              [&](const TorchContext& context) {
                                return job.zero.stage == 3 ? WriteStage<Zero3Hooks>(context)
                                                           : WriteStage<ZeroHooks>(context);
                              });
  }

 private:
  template <typename Hooks>
  static StateMemory WriteStage(const TorchContext& context) {
    Hooks hooks(context);
    WriteTorchStage(context, &hooks);
    StateMemory states = ZeroStates(context);
    states.held = hooks.TakeHeld();
    return states;
  }
};

}  // namespace

std::unique_ptr<Framework> MakeDeepSpeed() { return std::make_unique<DeepSpeed>(); }

}  // namespace drydock
