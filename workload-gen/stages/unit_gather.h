// Gathers the parameters of Megatron-FSDP's units (AllGatherPipeline of megatron_fsdp) in the order
// of its hooks: a hook before each forward and backward of a unit starts what it needs and what
// comes next, and compute waits for what it needs. Sharded parameters are freed behind each pass;
// what lies outside units stays through the step.
#ifndef DRYDOCK_WORKLOAD_GEN_STAGES_UNIT_GATHER_H_
#define DRYDOCK_WORKLOAD_GEN_STAGES_UNIT_GATHER_H_

#include <vector>

#include "workload-gen/program/writer_context.h"
#include "workload-gen/stages/data_parallel.h"

namespace drydock {

class UnitGather {
 public:
  // Does nothing unless the job uses Megatron-FSDP and shards anything.
  UnitGather(const WriterContext& context, const std::vector<ChunkBuckets>* chunks);

  // At the start of the iteration.
  void Begin();
  // `layer`: or ParameterGather::kEmbedding, kHead.
  void BeforeForward(int layer);
  void AfterForward(int layer) { Free(layer); }
  // The forward of a layer that runs again in backward.
  void BeforeRepeated(int layer);
  // Before a micro-batch's backward: what forward gathered ahead of its end is free again.
  void BeginBackward();
  void BeforeBackward(int layer);
  void AfterBackward(int layer) { Free(layer); }

 private:
  using OpId = ProgramBuilder::OpId;
  struct State {
    bool gathered = false;  // or in flight
    OpId gather = ProgramBuilder::kNothing;
  };
  // The parameters of products in MXFP8 and NVFP4 differ between forward and backward.
  enum class Side : uint8_t { kForward, kBackward };

  std::vector<size_t> BucketsOf(int layer) const;
  State& StateOf(size_t bucket, Side side);
  void Gather(int layer, Side side, bool ahead);
  void Start(const std::vector<size_t>& window, Side side);
  void Start(size_t bucket, State* state);
  void WaitFor(const std::vector<size_t>& wanted, Side side);
  void Free(int layer);

  const WriterContext& c_;
  const ChunkBuckets* chunk_ = nullptr;
  bool two_sides_ = false;
  std::vector<State> states_[2];
  std::vector<char> renewed_;  // over replicas, in this step
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_STAGES_UNIT_GATHER_H_
