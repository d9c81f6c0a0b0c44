#include "workload-gen/sharded/fsdp.h"

#include <fmt/format.h>

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
    if (job.model.tied_embedding) {
      diagnostics.Add(job.ErrorAt("model.tied_embedding",
                                  "torchtitan shards the embedding and the head apart: "
                                  "tied_embedding must be false"));
    }
    if (job.training.precision != DataType::kBf16) {
      diagnostics.Add(job.ErrorAt("training.precision", "FSDP scales no loss: only bf16"));
    }
    return diagnostics.ToStatus();
  }

  Status CheckLayout(const TrainingJob& job, const Layout& layout) const override {
    const int replicas = job.fsdp.replicas, data = layout.data;
    if (data % replicas != 0) {
      return job.ErrorAt("fsdp.replicas",
                         fmt::format("replicas {} does not divide data {}", replicas, data));
    }
    if (replicas > 1 && data == replicas) {
      return job.ErrorAt("fsdp.replicas",
                         fmt::format("replicas {} of data {} leaves one rank for each model, and "
                                     "nothing to shard; at most {}",
                                     replicas, data, data / 2));
    }
    return OkStatus();
  }

  Workload Build(const TrainingJob& job, const Layout& layout,
                 const Topology& topology) const override {
    const FsdpPlan plan = MakeFsdpPlan(job, layout);
    return BuildTorchWorkload(job, layout, topology, plan.replicas,
                              [&](const TorchContext& context) {
                                FsdpHooks hooks(context, plan);
                                WriteTorchStage(context, &hooks);
                                return FsdpStates(context, plan);
                              });
  }
};

}  // namespace

std::unique_ptr<Framework> MakeFsdp() { return std::make_unique<Fsdp>(); }

}  // namespace drydock
