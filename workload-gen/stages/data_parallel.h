// Writes a stage's data-parallel communication: gradient buckets reduced after the backward passes
// or beside the last of them, and, with the distributed optimizer, parameters gathered after the
// step or beside the next forward.
#ifndef DRYDOCK_WORKLOAD_GEN_STAGES_DATA_PARALLEL_H_
#define DRYDOCK_WORKLOAD_GEN_STAGES_DATA_PARALLEL_H_

#include <map>
#include <utility>
#include <vector>

#include "workload-gen/program/writer_context.h"
#include "workload-gen/stages/gradient_buckets.h"

namespace drydock {

// One chunk's parameters and their buckets.
struct ChunkBuckets {
  std::vector<Parameter> parameters;
  std::vector<Bucket> buckets;
};
// The bytes of a weight's element in its quantized copies: along both dimensions, if its products
// are quantized (PrecisionRules::products).
double CopyBytes(const PrecisionRules& precision);
// The number of ranks that one call reduces or gathers a bucket over.
int RanksOf(const Bucket& bucket, const ParallelLayout& layout);
// The number of ranks that split the optimizer's states of a bucket.
int64_t OwnersOf(const Bucket& bucket, const TrainingJob& job, const ParallelLayout& layout);
// True if the bucket has parameters of the layer; or of embedding or head (ParameterGather).
bool HoldsParameters(const ChunkBuckets& chunk, size_t bucket, int layer);
// The gather of a bucket, as its parameters are stored.
CommCall GatherCall(const TrainingJob& job, const Bucket& bucket, const ParallelLayout& layout);
// Starts a call over the ranks that share a bucket, after `after`.
ProgramBuilder::OpId StartBucketCall(const WriterContext& c, const Bucket& bucket, CommCall call,
                                     ProgramBuilder::OpId after = ProgramBuilder::kNothing);

// The buckets of the experts come after the others. Only the first chunk of the first stage has
// several buckets: only there the framework overlaps their reduction with backward.
std::vector<ChunkBuckets> MakeChunkBuckets(const TrainingJob& job, const ParallelLayout& layout,
                                           int stage);

class GradientReduction : public GradientListener {
 public:
  GradientReduction(const WriterContext& context, const std::vector<ChunkBuckets>* chunks);

  // From now on, reduces each bucket of the chunk when all its gradients are complete.
  void Arm(int chunk);
  // Megatron-FSDP: is this the last micro-batch of the step?
  void SetLast(bool last) { last_ = last; }
  // Megatron-FSDP, after a backward that was armed: compute waits for all its reductions.
  void FinishMicrobatch();
  void OnGradient(ParameterKind kind, int layer) override;
  // Reduces the remaining buckets of the chunk.
  void Reduce(int chunk);
  // Reduces all remaining buckets; the compute stream waits for all reductions.
  void Finish();

 private:
  using Key = std::pair<ParameterKind, int>;  // kind, layer

  void Launch(size_t chunk, size_t bucket);
  ProgramBuilder::OpId StartReduction(const Bucket& bucket, const CommCall& call);
  void LaunchUnit(const Bucket& bucket);
  void LimitQueue();
  ProgramBuilder::OpId AddShare(const Bucket& bucket, ProgramBuilder::OpId after);
  ProgramBuilder::OpId ReduceOverInstances(const Bucket& bucket, ProgramBuilder::OpId after);
  void WaitForAll();

  const WriterContext& c_;
  const std::vector<ChunkBuckets>& chunks_;
  int armed_ = -1;
  std::vector<std::map<Key, std::vector<size_t>>> buckets_of_;  // [chunk]: one entry a parameter
  std::vector<std::vector<size_t>> missing_;                    // [chunk][bucket] gradients
  std::vector<std::vector<char>> launched_;
  std::vector<ProgramBuilder::OpId> running_;
  ProgramBuilder::OpId across_ = ProgramBuilder::kNothing;  // the last sum over instances
  bool last_ = true;
  // Megatron-FSDP: elements and last op of the reductions that compute has not waited for.
  std::vector<std::pair<int64_t, ProgramBuilder::OpId>> queue_;
};

class ParameterGather {
 public:
  ParameterGather(const WriterContext& context, const std::vector<ChunkBuckets>* chunks);

  // Called at the start of the iteration (overlap.param_gather).
  void Begin();
  static constexpr int kEmbedding = -1, kHead = -2;
  // Called before the first forward of a layer, or of embedding or head, in a chunk.
  void BeforeForward(int chunk, int layer);
  // Called after the optimizer. Gathers all buckets, one after another, from the end of the model.
  void GatherAll();
  // Returns true if the first forward quantizes the weights that it has gathered.
  bool quantizes() const;

 private:
  bool overlapped() const;
  void Quantize(int chunk, size_t bucket);
  ProgramBuilder::OpId Start(size_t chunk, size_t bucket);
  void StartChunk(size_t chunk);
  void CopyTensors(size_t chunk, size_t bucket);

  const WriterContext& c_;
  const std::vector<ChunkBuckets>& chunks_;
  std::vector<std::vector<ProgramBuilder::OpId>> ops_;  // [chunk][bucket], kNothing: not started
  std::vector<std::vector<bool>> quantized_;            // [chunk][bucket]
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_STAGES_DATA_PARALLEL_H_
