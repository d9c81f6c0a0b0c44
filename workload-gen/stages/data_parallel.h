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
// The ranks that hold a bucket's parameters too.
int RanksOf(const Bucket& bucket, const ParallelLayout& layout);

// Those of the experts stand behind the others. Buckets are cut only where the framework overlaps
// with them: on the first stage's first chunk.
std::vector<ChunkBuckets> MakeChunkBuckets(const TrainingJob& job, const ParallelLayout& layout,
                                           int stage);

class GradientReduction : public GradientListener {
 public:
  GradientReduction(const WriterContext& context, const std::vector<ChunkBuckets>* chunks);

  // From here on each bucket of the chunk is reduced once all its gradients are complete.
  void Arm(int chunk) { armed_ = chunk; }
  void OnGradient(ParameterKind kind, int layer) override;
  // Reduces what of the chunk has not been.
  void Reduce(int chunk);
  // Reduces the rest; the compute stream waits for everything.
  void Finish();

 private:
  using Key = std::pair<ParameterKind, int>;  // and its layer

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

  // At the start of the iteration (overlap.param_gather).
  void Begin();
  static constexpr int kEmbedding = -1, kHead = -2;
  // Before the first forward of a layer, or of what those stand for, in a chunk.
  void BeforeForward(int chunk, int layer);
  // After the optimizer: everything, one after another, the model's end first.
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
