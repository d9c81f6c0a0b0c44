// Muon (emerging_optimizers.py and layer_wise_optimizer.py of Megatron-LM, and the package
// emerging_optimizers): the momentum of a weight matrix is made orthogonal by Newton-Schulz steps,
// which are products of 16 bits. Embeddings, head, norms and biases take Adam.
#ifndef DRYDOCK_WORKLOAD_GEN_STAGES_MUON_STEP_H_
#define DRYDOCK_WORKLOAD_GEN_STAGES_MUON_STEP_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "workload-gen/program/writer_context.h"
#include "workload-gen/stages/data_parallel.h"

namespace drydock {

// A matrix whose momentum is made orthogonal, as this rank holds it.
struct MuonMatrix {
  int64_t rows = 0, columns = 0;
  enum class Split : uint8_t { kNone, kRows, kColumns } split = Split::kNone;  // over tensor ranks
  bool expert = false;
};

// The matrices of a parameter: several for a qkv that is split. None if Adam updates it.
std::vector<MuonMatrix> MuonMatricesOf(const Parameter& parameter, const TrainingJob& job,
                                       const ParallelLayout& layout);

// What a rank updates. With the layer-wise optimizer, ranks update whole tensors: that of the rank
// with the most work, or of the rank with the most bytes of states.
enum class MuonRank : uint8_t { kMostWork, kMostBytes };
struct MuonShare {
  std::vector<MuonMatrix> matrices;
  int64_t matrix_elements = 0;
  int64_t adam_elements = 0;
  int64_t tensors = 0;  // of both
  int64_t adam_tensors = 0;

  int64_t state_bytes() const;  // fp32 copy and momentum; Adam has two moments
};
MuonShare MuonShareOf(const std::vector<ChunkBuckets>& chunks, const TrainingJob& job,
                      const ParallelLayout& layout, MuonRank rank);

// Writes the update of the matrices.
class MuonStep {
 public:
  explicit MuonStep(const WriterContext& context) : c_(context) {}

  void Write(const std::vector<MuonMatrix>& matrices);

 private:
  void Update(const MuonMatrix& matrix);
  void Orthogonalize(int64_t rows, int64_t columns, bool distributed, const MuonMatrix& matrix);
  void Elementwise(const char* name, int64_t elements, int64_t summands);
  void Copy(int64_t elements);
  void Cast(int64_t elements);
  void Product(int64_t rows, int64_t n, int64_t k);
  void OverTensorRanks(const MuonMatrix& matrix, CollectiveType type, DataType data, int64_t count);
  int TensorRanks(const MuonMatrix& matrix) const;

  const WriterContext& c_;
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_STAGES_MUON_STEP_H_
