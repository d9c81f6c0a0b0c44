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
// The number of ranks that share the parameters of a bucket.
int RanksOf(const Bucket& bucket, const ParallelLayout& layout);

// The buckets of the experts come after the others. Only the first chunk of the first stage has
// several buckets: only there the framework overlaps their reduction with backward.
std::vector<ChunkBuckets> MakeChunkBuckets(const TrainingJob& job, const ParallelLayout& layout,
                                           int stage);

class GradientReduction : public GradientListener {
 public:
  GradientReduction(const WriterContext& context, const std::vector<ChunkBuckets>* chunks);

  // From now on, reduces each bucket of the chunk when all its gradients are complete.
  void Arm(int chunk) { armed_ = chunk; }
  void OnGradient(ParameterKind kind, int layer) override;
  // Reduces the remaining buckets of the chunk.
  void Reduce(int chunk);
  // Reduces all remaining buckets; the compute stream waits for all reductions.
  void Finish();

 private:
  using Key = std::pair<ParameterKind, int>;  // kind, layer

  void Launch(size_t chunk, size_t bucket);

  const WriterContext& c_;
  const std::vector<ChunkBuckets>& chunks_;
  int armed_ = -1;
  std::vector<std::map<Key, std::vector<size_t>>> buckets_of_;  // [chunk]: one entry a parameter
  std::vector<std::vector<size_t>> missing_;                    // [chunk][bucket] gradients
  std::vector<std::vector<char>> launched_;
  std::vector<ProgramBuilder::OpId> running_;
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

 private:
  bool overlapped() const;
  ProgramBuilder::OpId Start(size_t chunk, size_t bucket);
  void StartChunk(size_t chunk);
  bool Holds(size_t chunk, size_t bucket, int layer) const;

  const WriterContext& c_;
  const std::vector<ChunkBuckets>& chunks_;
  std::vector<std::vector<ProgramBuilder::OpId>> ops_;  // [chunk][bucket], kNothing: not started
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_STAGES_DATA_PARALLEL_H_
