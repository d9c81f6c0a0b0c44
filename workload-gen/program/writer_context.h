// The context that all writers of a stage's program share. References outlive the writers; one
// program, one thread.
#ifndef DRYDOCK_WORKLOAD_GEN_PROGRAM_WRITER_CONTEXT_H_
#define DRYDOCK_WORKLOAD_GEN_PROGRAM_WRITER_CONTEXT_H_

#include "workload-gen/job/training_job.h"
#include "workload-gen/layout/layout.h"
#include "workload-gen/layout/shard_groups.h"
#include "workload-gen/program/program_builder.h"
#include "workload-gen/work/layer_work.h"
#include "workload-gen/work/transformer.h"

namespace drydock {

// Take returns true if it accepts a weight gradient, to compute it later: after `after`, if given.
class WeightGradientSink {
 public:
  virtual ~WeightGradientSink() = default;
  virtual bool Take(uint32_t submodule, ProgramBuilder::OpId after) = 0;
};

class ModuleOffload;

struct WriterContext {
  const TrainingJob& job;
  const ParallelLayout& layout;
  const RankWork& work;
  WorkTables* tables;
  ProgramBuilder* builder;
  int stage;
  WeightGradientSink* weights = nullptr;
  ShardRoles shards = {};            // of the distributed optimizer
  ModuleOffload* offload = nullptr;  // unless the job has training.offload_modules

  bool IsFirst(int chunk) const { return stage == 0 && chunk == 0; }
  bool IsLast(int chunk) const {
    return stage == layout.pipeline - 1 && chunk == layout.chunks - 1;
  }
  bool HasFinalNorm(int chunk) const { return layout.HasFinalNorm(stage, chunk); }
  // Whether backward repeats the whole layer. With `recompute_method: block`, these are the first
  // layers of a chunk, and none of MTP (TransformerBlock and MultiTokenPredictionLayer).
  bool RepeatsLayer(int layer, int chunk) const {
    const RecomputeRules& rules = job.training.recompute;
    if (rules.granularity != Recompute::kFull) return false;
    if (rules.method == RecomputeMethod::kUniform) return true;
    return layer < job.model.layers && layer - layout.FirstLayer(stage, chunk) < rules.layers;
  }
  // Layers of multi-token prediction (MTP).
  bool HasMtpLayers(int chunk) const { return work.mtp && layout.HasMtpLayers(stage, chunk); }
  // One micro-batch's activations between layers, whole.
  int64_t ActivationCount() const { return work.rows * job.model.hidden; }
};

// OnGradient is called when the gradient of a parameter is complete in the current micro-batch.
class GradientListener {
 public:
  virtual ~GradientListener() = default;
  virtual void OnGradient(ParameterKind kind, int layer) = 0;
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_PROGRAM_WRITER_CONTEXT_H_
