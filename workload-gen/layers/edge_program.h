// Writes the two ends of the model: the broadcast of the batch and the embedding; the final norm,
// the logits and the loss over a vocabulary that tensor parallelism splits.
#ifndef DRYDOCK_WORKLOAD_GEN_LAYERS_EDGE_PROGRAM_H_
#define DRYDOCK_WORKLOAD_GEN_LAYERS_EDGE_PROGRAM_H_

#include "workload-gen/program/tensor_parallel.h"
#include "workload-gen/program/writer_context.h"

namespace drydock {

class EdgeWriter {
 public:
  EdgeWriter(const WriterContext& context, GradientListener* listener)
      : c_(context), tensor_(context), listener_(listener) {}

  // Tensor rank 0 broadcasts the batch that it loaded: tokens and positions at the start of the
  // model, labels and loss mask at the end.
  void Batch(bool first, bool last);
  void EmbeddingForward();
  void EmbeddingBackward();
  // The gradient of the tokens' rows alone; with multi-token prediction, a second time.
  void LookupBackward();
  // The head: final norm; logits and loss.
  void HeadNormForward();
  void HeadNormBackward();
  void LogitsForward();
  void LogitsBackward();

 private:
  void Broadcast(DataType type);
  void LookupForward();
  void LossCollective(CollectiveType collective, ReduceOp op, int64_t count);

  const WriterContext& c_;
  TensorParallel tensor_;
  GradientListener* listener_;
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_LAYERS_EDGE_PROGRAM_H_
