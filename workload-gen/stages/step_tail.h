// Writes the end of a step, after the last backward: the remaining gradient reductions, the
// optimizer, the checks (Megatron's finalize_model_grads.py, optimizer.py, training.py).
#ifndef DRYDOCK_WORKLOAD_GEN_STAGES_STEP_TAIL_H_
#define DRYDOCK_WORKLOAD_GEN_STAGES_STEP_TAIL_H_

#include "workload-gen/program/writer_context.h"
#include "workload-gen/stages/data_parallel.h"
#include "workload-gen/stages/muon_step.h"

namespace drydock {

class StepTail {
 public:
  StepTail(const WriterContext& context, const std::vector<ChunkBuckets>& chunks);

  void Write(GradientReduction* reduction, ParameterGather* gather);

 private:
  void ReduceReplicated();
  // True for a parameter whose gradients are parts of a sum, one on each tensor rank.
  bool IsSummedOverTensor(const Parameter& parameter) const;
  void ReduceSharedEmbedding();
  void UpdateRouterBiases();
  void Optimize();
  void CountZeros();
  void LogParameters();
  void CountTensors(const ChunkBuckets& chunk);
  void QuantizeWeights();
  void Checks();
  void Compute(const char* name, const SubmoduleWork& work, DataType type);
  int EmbeddingHolders() const;  // pipeline stages
  void AllReduce(Role role, Stream stream, DataType type, ReduceOp op, int64_t count);
  // Reduces over the ranks that together hold each gradient once.
  void AllReduceModel(ReduceOp op);
  void AllReduceWorld(DataType type, ReduceOp op);
  void AllReduceReplica(DataType type, ReduceOp op);

  const WriterContext& c_;
  int64_t replicated_ = 0;  // elements whose gradients are partial sums on tensor ranks
  int64_t owned_ = 0;       // elements this rank's optimizer updates
  int64_t tensors_ = 0;     // that hold these elements
  int64_t parameters_ = 0;  // tensors of this rank's part of the model
  MuonShare muon_;
  // Weights of which this rank has quantized copies, and their elements.
  int64_t quantized_weights_ = 0, quantized_ = 0;
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_STAGES_STEP_TAIL_H_
