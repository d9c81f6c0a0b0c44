#include "workload-gen/stages/muon_step.h"

#include <algorithm>
#include <numeric>

#include "workload-gen/work/submodule_costs.h"

namespace drydock {
namespace {

using Split = MuonMatrix::Split;

// The states of an element: fp32 copy and momentum, or fp32 copy and two moments.
constexpr int64_t kMuonBytes = 8, kAdamBytes = 12;

// The width of one side of a parameter's matrix, and which side tensor parallelism splits.
struct Shape {
  int64_t inputs = 0;   // columns before tensor parallelism
  int64_t outputs = 0;  // rows, if the inputs are split
  Split split = Split::kNone;
};

std::optional<Shape> ShapeOf(ParameterKind kind, const ModelShape& m) {
  const auto& latent = m.attention.latent;
  switch (kind) {
    case ParameterKind::kQkvWeight:
    case ParameterKind::kFc1Weight:
    case ParameterKind::kSharedFc1Weight:
    case ParameterKind::kScanInWeight:
      return Shape{m.hidden, 0, Split::kRows};
    case ParameterKind::kMtpJoin:
      return Shape{2 * m.hidden, 0, Split::kRows};
    case ParameterKind::kQUpWeight:
      return Shape{latent.q_rank > 0 ? latent.q_rank : m.hidden, 0, Split::kRows};
    case ParameterKind::kKvUpWeight:
      return Shape{latent.kv_rank, 0, Split::kRows};
    case ParameterKind::kExpertFc1Weight:
      return Shape{m.expert_width(), 0, Split::kRows};
    case ParameterKind::kProjWeight:
    case ParameterKind::kFc2Weight:
    case ParameterKind::kSharedFc2Weight:
    case ParameterKind::kScanOutWeight:
      return Shape{0, m.hidden, Split::kColumns};
    case ParameterKind::kExpertFc2Weight:
      return Shape{0, m.expert_width(), Split::kColumns};
    case ParameterKind::kIndexQWeight:
      return Shape{latent.q_rank > 0 ? latent.q_rank : m.hidden, 0, Split::kNone};
    case ParameterKind::kQDownWeight:
    case ParameterKind::kKvDownWeight:
    case ParameterKind::kIndexKWeight:
    case ParameterKind::kIndexHeadWeight:
    case ParameterKind::kRouterWeight:
    case ParameterKind::kLatentDown:
    case ParameterKind::kSharedGate:
      return Shape{m.hidden, 0, Split::kNone};
    case ParameterKind::kLatentUp:
      return Shape{0, m.hidden, Split::kNone};
    default:
      return std::nullopt;
  }
}

// A Newton-Schulz step works on the smaller side; its cost, as the layer-wise optimizer weighs it.
double CostOf(const MuonMatrix& matrix) {
  const auto big = static_cast<double>(std::max(matrix.rows, matrix.columns));
  const auto small = static_cast<double>(std::min(matrix.rows, matrix.columns));
  return big * small * small;
}

struct Tensor {
  std::vector<MuonMatrix> matrices;
  int64_t elements = 0;

  double cost() const {
    if (matrices.empty()) return static_cast<double>(elements);
    return std::accumulate(matrices.begin(), matrices.end(), 0.0,
                           [](double sum, const MuonMatrix& m) { return sum + CostOf(m); });
  }
};

void Add(const Tensor& tensor, MuonShare* share) {
  share->matrices.insert(share->matrices.end(), tensor.matrices.begin(), tensor.matrices.end());
  (tensor.matrices.empty() ? share->adam_elements : share->matrix_elements) += tensor.elements;
  ++share->tensors;
  share->adam_tensors += tensor.matrices.empty() ? 1 : 0;
}

// Adds the tensors of the rank with the most work. With a layout, the costliest tensor goes to the
// rank with the least work; without one, tensors are dealt out by size, forth and back.
void AddLargestPart(std::vector<Tensor> tensors, int ranks, bool layout, MuonRank which,
                    MuonShare* share) {
  std::stable_sort(tensors.begin(), tensors.end(), [&](const Tensor& a, const Tensor& b) {
    return layout ? a.cost() > b.cost() : a.elements < b.elements;
  });
  std::vector<double> load(static_cast<size_t>(ranks), 0);
  std::vector<int64_t> bytes(static_cast<size_t>(ranks), 0);
  std::vector<std::vector<size_t>> parts(static_cast<size_t>(ranks));
  for (size_t i = 0; i < tensors.size(); ++i) {
    const size_t turn = i % (2 * parts.size());
    const size_t dealt = turn < parts.size() ? turn : 2 * parts.size() - 1 - turn;
    const auto least =
        static_cast<size_t>(std::min_element(load.begin(), load.end()) - load.begin());
    const size_t rank = layout ? least : dealt;
    load[rank] += tensors[i].cost();
    bytes[rank] += tensors[i].elements * (tensors[i].matrices.empty() ? kAdamBytes : kMuonBytes);
    parts[rank].push_back(i);
  }
  const auto most =
      which == MuonRank::kMostWork
          ? static_cast<size_t>(std::max_element(load.begin(), load.end()) - load.begin())
          : static_cast<size_t>(std::max_element(bytes.begin(), bytes.end()) - bytes.begin());
  for (const size_t i : parts[most]) Add(tensors[i], share);
}

}  // namespace

std::vector<MuonMatrix> MuonMatricesOf(const Parameter& parameter, const TrainingJob& job,
                                       const ParallelLayout& layout) {
  const std::optional<Shape> shape = ShapeOf(parameter.kind, job.model);
  if (!shape) return {};
  MuonMatrix whole;
  whole.expert = parameter.kind == ParameterKind::kExpertFc1Weight ||
                 parameter.kind == ParameterKind::kExpertFc2Weight;
  whole.split =
      (whole.expert ? layout.expert_tensor : layout.tensor) > 1 ? shape->split : Split::kNone;
  whole.columns = shape->inputs > 0 ? shape->inputs : parameter.elements / shape->outputs;
  whole.rows = parameter.elements / whole.columns;
  const bool splits = job.training.optimizer.muon.split_qkv;
  if (parameter.kind != ParameterKind::kQkvWeight || !splits) return {whole};
  // The gate of attention has as many rows as the queries.
  const auto& attention = job.model.attention;
  const int64_t queries = attention.query_width(), keys = attention.kv_width();
  std::vector<int64_t> widths = {queries, keys, keys};
  if (attention.gate) widths.push_back(queries);
  std::vector<MuonMatrix> pieces;
  for (const int64_t width : widths) {
    whole.rows = std::max<int64_t>(1, width / layout.tensor);
    pieces.push_back(whole);
  }
  return pieces;
}

MuonShare MuonShareOf(const std::vector<ChunkBuckets>& chunks, const TrainingJob& job,
                      const ParallelLayout& layout, MuonRank rank) {
  const OptimizerRules& optimizer = job.training.optimizer;
  const bool parts = optimizer.distributed, placed = optimizer.muon.layout;
  MuonShare share;
  std::vector<Tensor> dealt[2];  // of the layer-wise optimizer: of the rest, of experts
  for (const ChunkBuckets& chunk : chunks) {
    for (const Parameter& parameter : chunk.parameters) {
      Tensor tensor{MuonMatricesOf(parameter, job, layout), parameter.elements};
      if (parts && (!placed || !tensor.matrices.empty()))
        dealt[parameter.expert ? 1 : 0].push_back(std::move(tensor));
      else if (!parts)
        Add(tensor, &share);
    }
    if (!parts || !placed) continue;
    // The distributed optimizer splits the rest evenly.
    for (const Bucket& bucket : chunk.buckets) {
      if (bucket.whole_tensors) continue;
      const auto count = static_cast<int64_t>(bucket.parameters.size());
      const int64_t ranks = RanksOf(bucket, layout);
      share.adam_elements += bucket.elements / ranks;
      share.tensors += (count + ranks - 1) / ranks;
      share.adam_tensors += (count + ranks - 1) / ranks;
    }
  }
  AddLargestPart(std::move(dealt[0]), layout.gradient_ranks(), placed, rank, &share);
  AddLargestPart(std::move(dealt[1]), layout.expert_data(), placed, rank, &share);
  return share;
}

int64_t MuonShare::state_bytes() const {
  return matrix_elements * kMuonBytes + adam_elements * kAdamBytes;
}

void MuonStep::Write(const std::vector<MuonMatrix>& matrices) {
  for (const MuonMatrix& matrix : matrices) Update(matrix);
}

int MuonStep::TensorRanks(const MuonMatrix& matrix) const {
  if (matrix.split == Split::kNone) return 1;
  return matrix.expert ? c_.layout.expert_tensor : c_.layout.tensor;
}

// OrthogonalizedOptimizer.step: weight decay, the momentum, Nesterov's look ahead, Newton-Schulz,
// two scales, and the update of the fp32 weight.
void MuonStep::Update(const MuonMatrix& matrix) {
  const MuonRules& rules = c_.job.training.optimizer.muon;
  const int64_t elements = matrix.rows * matrix.columns;
  Elementwise("optimizer.muon-scale", elements, 1);
  Elementwise("optimizer.muon-add", elements, 2);
  if (rules.nesterov) Elementwise("optimizer.muon-add", elements, 2);
  const int ranks = TensorRanks(matrix);
  const bool duplicated = ranks > 1 && rules.tensor_mode == MuonTensorMode::kDuplicated;
  const bool distributed = ranks > 1 && rules.tensor_mode == MuonTensorMode::kDistributed;
  if (duplicated) {
    // The shards are gathered and joined; then each rank works on the whole matrix.
    OverTensorRanks(matrix, CollectiveType::kAllGather, DataType::kFp32, elements * ranks);
    Elementwise("optimizer.muon-scale", elements * ranks, 1);
    const bool rows = matrix.split == Split::kRows;
    Orthogonalize(matrix.rows * (rows ? ranks : 1), matrix.columns * (rows ? 1 : ranks), false,
                  matrix);
  } else {
    Orthogonalize(matrix.rows, matrix.columns, distributed, matrix);
  }
  Elementwise("optimizer.muon-scale", elements, 1);
  Elementwise("optimizer.muon-scale", elements, 1);
  Elementwise("optimizer.muon-add", elements, 2);
}

// newton_schulz of muon_utils.py. Distributed, the split side is the inner one of the first
// product, whichever is longer.
void MuonStep::Orthogonalize(int64_t rows, int64_t columns, bool distributed,
                             const MuonMatrix& matrix) {
  const bool turned = distributed ? matrix.split == Split::kRows : rows > columns;
  const int64_t outer = turned ? columns : rows, inner = turned ? rows : columns;
  const int64_t elements = rows * columns;
  // torch.nn.functional.normalize: the norm reads the matrix (as many bytes as a copy of half of
  // it), a number is bounded, and the division reads and writes the matrix.
  Elementwise("optimizer.muon-norm", (elements + 1) / 2, 1);
  Elementwise("optimizer.muon-bound", 1, 1);
  Elementwise("optimizer.muon-scale", elements, 1);
  if (distributed) OverTensorRanks(matrix, CollectiveType::kAllReduce, DataType::kFp32, 1);
  Cast(elements);
  for (int step = 0; step < c_.job.training.optimizer.muon.steps; ++step) {
    Product(outer, outer, inner);
    if (distributed)
      OverTensorRanks(matrix, CollectiveType::kAllReduce, DataType::kBf16, outer * outer);
    // addmm copies the matrix that it adds to (ATen/native/cuda/Blas.cpp).
    Copy(outer * outer);
    Product(outer, outer, outer);
    Copy(elements);
    Product(outer, inner, outer);
  }
  Cast(elements);
}

void MuonStep::Elementwise(const char* name, int64_t elements, int64_t summands) {
  c_.builder->Compute(StepWork(name, submodule::Add{.rows = elements, .n = 1, .summands = summands},
                               DataType::kFp32, c_.tables));
}

void MuonStep::Copy(int64_t elements) {
  c_.builder->Compute(StepWork("optimizer.muon-copy",
                               submodule::Add{.rows = elements, .n = 1, .summands = 1},
                               DataType::kBf16, c_.tables));
}

void MuonStep::Cast(int64_t elements) {
  c_.builder->Compute(
      StepWork("optimizer.muon-cast", submodule::Cast{{elements}}, DataType::kBf16, c_.tables));
}

void MuonStep::Product(int64_t rows, int64_t n, int64_t k) {
  Submodule product{.name = "optimizer.muon-product",
                    .pass = Pass::kForward,
                    .type = DataType::kBf16,
                    .work = submodule::Linear{.rows = rows, .n = n, .k = k}};
  FillCosts(&product);
  c_.builder->Compute(c_.tables->Intern(product));
}

void MuonStep::OverTensorRanks(const MuonMatrix& matrix, CollectiveType type, DataType data,
                               int64_t count) {
  CommCall call;
  call.collective = type;
  call.type = data;
  call.count = count;
  call.group_size = TensorRanks(matrix);
  c_.builder->Collective(matrix.expert ? kExpertTensorRole : kTensorRole,
                         matrix.expert ? kExpertTensorStream : kTensorStream, call);
}

}  // namespace drydock
