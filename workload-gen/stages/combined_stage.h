// Writes one micro-batch's forward and another's backward on a pipeline stage together
// (overlap.expert; Megatron's combined_1f1b.py): the work before the layers, the layers side by
// side, the work after them.
#ifndef DRYDOCK_WORKLOAD_GEN_STAGES_COMBINED_STAGE_H_
#define DRYDOCK_WORKLOAD_GEN_STAGES_COMBINED_STAGE_H_

#include <optional>

#include "workload-gen/layers/edge_program.h"
#include "workload-gen/stages/combined_passes.h"
#include "workload-gen/stages/data_parallel.h"

namespace drydock {

class CombinedStage {
 public:
  CombinedStage(const WriterContext& context, LayerWriter* layers, EdgeWriter* edges,
                MtpWriter* mtp, GradientListener* listener, ParameterGather* gather,
                DeferredGradients* deferred)
      : c_(context),
        passes_(context, layers, mtp, deferred),
        edges_(*edges),
        listener_(*listener),
        gather_(*gather),
        deferred_(*deferred) {}

  // Either pass may be null.
  void Write(const StageWork* forward, const StageWork* backward);

  // Returns the point after which the messages of the last Write in a direction may leave: after
  // their own micro-batch, not after the other. Has no value if there was no such micro-batch, or
  // if messages follow all compute.
  const std::optional<ProgramBuilder::Point>& end(bool backward) const {
    return backward ? backward_end_ : forward_end_;
  }

 private:
  ChunkPass Enter(const StageWork& work);
  void EnterForward(ChunkPass* pass);
  void EnterBackward(ChunkPass* pass);
  void LeaveForward(ChunkPass* pass);
  void LeaveBackward(ChunkPass* pass);
  void PrepareForward(const StageWork& work, int layer);
  void PrepareBackward(int layer);
  void Gather(const StageWork& work, int layer);
  void HeadNormBackward();
  void WriteDeferred(const ChunkPass& pass);
  bool IsFirstMtpLayer(int layer) const { return layer == c_.job.model.layers; }

  const WriterContext& c_;
  CombinedPasses passes_;
  EdgeWriter& edges_;
  GradientListener& listener_;
  ParameterGather& gather_;
  DeferredGradients& deferred_;
  bool norm_is_due_ = false;  // backward through the final norm, after the MTP layers
  std::optional<ProgramBuilder::Point> forward_end_, backward_end_;
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_STAGES_COMBINED_STAGE_H_
