#include "workload-gen/sharded/deepspeed.h"

#include <fmt/format.h>

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
           fmt::format("DeepSpeed's pipelines go with ZeRO stage 1; with stage {} pipeline must "
                       "be 1",
                       job.zero.stage));
    }
    if (job.parallel.virtual_pipeline > 1) {
      fail("parallel.virtual_pipeline", "DeepSpeed's pipelines do not interleave: only 1");
    }
    if (job.training.recompute == Recompute::kSelective) {
      fail("training.recompute", "DeepSpeed checkpoints whole layers: none or full");
    }
    if (job.model.tied_embedding) {
      fail("model.tied_embedding",
           "a shared embedding is not generated for framework deepspeed: tied_embedding must be "
           "false");
    }
    return diagnostics.ToStatus();
  }

  Workload Build(const TrainingJob& job, const Layout& layout,
                 const Topology& topology) const override {
    return BuildTorchWorkload(job, layout, topology, /*replicas=*/1,
                              [&](const TorchContext& context) {
                                WriteStage(context);
                                return ZeroStates(context);
                              });
  }

 private:
  static void WriteStage(const TorchContext& context) {
    if (context.writer.job.zero.stage == 3) {
      Zero3Hooks hooks(context);
      WriteTorchStage(context, &hooks);
    } else {
      ZeroHooks hooks(context);
      WriteTorchStage(context, &hooks);
    }
  }
};

}  // namespace

std::unique_ptr<Framework> MakeDeepSpeed() { return std::make_unique<DeepSpeed>(); }

}  // namespace drydock
