// Makes the submodules of a transformer on one rank and enters them in the tables. The makers of
// attention, MLP, experts, embedding and head share it.
#ifndef DRYDOCK_WORKLOAD_GEN_WORK_SUBMODULE_MAKER_H_
#define DRYDOCK_WORKLOAD_GEN_WORK_SUBMODULE_MAKER_H_

#include <memory>
#include <optional>
#include <string>

#include "workload-gen/job/training_job.h"
#include "workload-gen/layout/layout.h"
#include "workload-gen/work/work_tables.h"

namespace drydock {

// A GEMM in equal parts.
struct PartWork {
  uint32_t submodule = 0;
  int count = 0;  // 0: the GEMM is whole
};

// Elements as they travel: `units` of `type` for 32 of them, with the scales of their blocks.
struct WireFormat {
  DataType type = DataType::kBf16;
  int64_t units = 32;

  // Units of `elements` in `parts` equal parts.
  int64_t CountOf(int64_t elements, int64_t parts = 1) const {
    return units == 32 ? elements : elements / parts * units / 32 * parts;
  }
};

// The three GEMMs of a linear layer.
struct AdapterWork;

struct LinearWork {
  uint32_t forward = 0;
  uint32_t activation_gradient = 0;
  uint32_t weight_gradient = 0;
  std::optional<uint32_t> accumulate;  // adds the gradient to the main gradient, if not fused
  // The format in which sequence parallelism gathers the input of a column-parallel layer and the
  // output gradient of a row-parallel layer.
  WireFormat gathered;
  bool reduces_scale = false;  // the tensor-parallel ranks agree on a scale before they gather
  // In fp8 or NVFP4: quantizes the input, or the output gradient, before the gather or before a
  // GEMM in parts. Without a value, the GEMM or the submodule before the layer quantizes.
  std::optional<uint32_t> input_cast, gradient_cast;
  // With overlap.tensor, these parts replace the whole GEMMs, with communication between the parts.
  PartWork forward_parts, gradient_parts;
  std::optional<uint32_t> sum;  // of the parts that other ranks sent (ScatterForm::kRing)
  bool userbuffers = false;     // Transformer Engine communicates without NCCL
  bool frozen = false;          // the weight has no gradient
  std::shared_ptr<const AdapterWork> adapter;  // adapter_work.h
};

// The source of a column-parallel layer's input: a norm that Transformer Engine fuses with the
// layer, and that writes fp8; the same norm where an adapter reads its result too, which it then
// writes, and sequence parallelism gathers, in 16 bits; or another submodule.
enum class InputFrom : uint8_t { kNorm, kNormForAdapter, kElsewhere };

struct ForwardBackwardWork {
  uint32_t forward = 0;
  uint32_t backward = 0;
};

// The activation of experts that one kernel computes together with a product: with the one before
// it forward (fc1), and with the one behind it backward (fc2).
enum class FusedActivation : uint8_t { kNone, kBehind, kBefore };

// The arguments of the constructor outlive the maker.
class SubmoduleMaker {
 public:
  SubmoduleMaker(const TrainingJob& job, const ParallelLayout& layout, WorkTables* tables);

  // Each returns an index into the table of submodules. The submodule has the job's precision.
  uint32_t Add(const std::string& name, const SubmoduleWork& work, Pass pass);
  ForwardBackwardWork ForwardBackward(const std::string& name, const SubmoduleWork& work);
  // Fills in the costs of `s`.
  uint32_t Add(Submodule s);

  // Linear layers that follow stay in 16 bits, or are quantized if the job says so.
  void SetHalf(bool half) { half_ = half; }
  // The place of the linear layers that follow: their format may differ from that of others.
  void SetPart(bool LinearParts::*part) { part_ = part; }

  // Linear layers and activations that follow belong to an MLP that Transformer Engine's operation
  // fuser runs, or not.
  void SetFusedOps(bool fused) { fused_ops_ = fused && job_.training.kernels.fused_ops; }

  // A linear layer of rows x n x k. `bias`: the GEMM adds a bias, not a later submodule. In an fp8
  // job, all GEMMs except the head's run in fp8.
  LinearWork Linear(const std::string& name, int64_t rows, int64_t n, int64_t k, bool bias);
  // Layers of Transformer Engine that communicate over tensor parallelism; in fp8 they gather fp8.
  LinearWork ColumnLinear(const std::string& name, int64_t rows, int64_t n, int64_t k, bool bias,
                          InputFrom from);
  LinearWork RowLinear(const std::string& name, int64_t rows, int64_t n, int64_t k);
  // The same two, overlapped with their communication if overlap.tensor is set: the input arrives
  // in parts of the rows, the output leaves in parts of the columns or of the rows.
  LinearWork OverlappedColumnLinear(const std::string& name, int64_t rows, int64_t n, int64_t k,
                                    bool bias, InputFrom from);
  LinearWork OverlappedRowLinear(const std::string& name, int64_t rows, int64_t n, int64_t k,
                                 ScatterForm form);
  // A linear layer outside of Transformer Engine, whose weight is trained also beside adapters.
  LinearWork TrainedLinear(const std::string& name, int64_t rows, int64_t n, int64_t k);
  LinearWork HeadLinear(const std::string& name, int64_t rows, int64_t n, int64_t k);
  // `experts` GEMMs that share the rows.
  LinearWork GroupedLinear(const std::string& name, int64_t rows, int64_t n, int64_t k,
                           int64_t experts, FusedActivation activation = FusedActivation::kNone);
  ForwardBackwardWork Norm(const std::string& name, int64_t rows, int64_t width);
  ForwardBackwardWork Activation(const std::string& name, int64_t rows, int64_t width);
  ForwardBackwardWork Residual(const std::string& name);
  // Quantizes rows x n; `parts`: for GEMMs in parts, which need the transpose of each format.
  uint32_t Quantize(const std::string& name, int64_t rows, int64_t n, bool searched, bool parts,
                    Pass pass);
  // Transformer Engine quantizes the operands of the linear layers.
  bool quantizes() const {
    return precision().quantized() && linear_type() != precision().type &&
           job_.training.kernels.fused;
  }

  const TrainingJob& job() const { return job_; }
  const ModelShape& model() const { return job_.model; }
  const ParallelLayout& layout() const { return layout_; }
  int64_t rows() const { return rows_; }              // t: tokens of a micro-batch on this rank
  int64_t local_rows() const { return local_rows_; }  // t, or t / tensor under sequence parallelism

 private:
  submodule::Linear LinearOf(int64_t rows, int64_t n, int64_t k, bool bias) const;
  // Of linear layers inside the transformer layers.
  const PrecisionRules& precision() const { return job_.training.precision; }
  DataType linear_type() const;
  uint32_t AddLinear(const std::string& name, DataType type, submodule::Linear linear, Pass pass);
  uint32_t AddLinear(const std::string& name, DataType type, submodule::GroupedLinear linear,
                     Pass pass);
  // `Kind`: submodule::Linear or submodule::GroupedLinear.
  template <typename Kind>
  LinearWork Gemms(const std::string& name, DataType type, Kind linear);
  // Splits a GEMM by columns, or by rows with one part per rank.
  PartWork ColumnParts(const std::string& name, submodule::Linear linear, Pass pass);
  PartWork RowParts(const std::string& name, submodule::Linear linear, Pass pass);
  // The scale of a whole tensor follows from its largest value.
  bool searches() const {
    return linear_type() == DataType::kNvfp4 ||
           (precision().fp8 && precision().recipe == Fp8Recipe::kTensorwise);
  }
  // A fused norm finds the largest value of its result.
  bool norm_searches() const { return linear_type() != DataType::kNvfp4 || !precision().hadamard; }
  // `directions`: of an operand that is quantized along both, how many are gathered.
  WireFormat GatheredFormat(int directions) const;
  // The activation of fused operations knows the scales when it writes. With one scale for a tensor
  // from the tensor itself, it finds the largest value, and a quantization follows.
  bool activation_quantizes() const {
    const DataType type = linear_type();
    const bool scaled = type == DataType::kMxfp8 || precision().delayed_scaling();
    return fused_ops_ && quantizes() && scaled;
  }
  bool activation_searches() const {
    return fused_ops_ && quantizes() && precision().fp8 && searches();
  }
  bool overlaps() const { return job_.overlap.tensor && layout_.tensor > 1; }
  // Adds a weight's gradient of rows x n elements into the main gradient.
  uint32_t Accumulation(const std::string& linear, int64_t rows, int64_t n);

  const TrainingJob& job_;
  const ParallelLayout& layout_;
  WorkTables* tables_;
  int64_t rows_ = 0;
  int64_t local_rows_ = 0;
  bool half_ = false;
  bool fused_ops_ = false;
  bool LinearParts::*part_ = nullptr;
};

// Linear layers that are made while it lives have this place.
class LinearPartScope {
 public:
  LinearPartScope(SubmoduleMaker* maker, bool LinearParts::*part) : maker_(*maker) {
    maker_.SetPart(part);
  }
  ~LinearPartScope() { maker_.SetPart(nullptr); }
  LinearPartScope(const LinearPartScope&) = delete;
  LinearPartScope& operator=(const LinearPartScope&) = delete;

 private:
  SubmoduleMaker& maker_;
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_WORK_SUBMODULE_MAKER_H_
