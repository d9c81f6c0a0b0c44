// Makes the submodules of a transformer on one rank and enters them in the tables: what the makers
// of attention, MLP, experts, embedding and head have in common.
#ifndef DRYDOCK_WORKLOAD_GEN_WORK_SUBMODULE_MAKER_H_
#define DRYDOCK_WORKLOAD_GEN_WORK_SUBMODULE_MAKER_H_

#include <optional>
#include <string>

#include "workload-gen/job/training_job.h"
#include "workload-gen/layout/layout.h"
#include "workload-gen/work/work_tables.h"

namespace drydock {

// A product cut into equal parts.
struct PartWork {
  uint32_t submodule = 0;
  int count = 0;  // 0: it is not cut
};

// A linear layer's three products.
struct LinearWork {
  uint32_t forward = 0;
  uint32_t activation_gradient = 0;
  uint32_t weight_gradient = 0;
  std::optional<uint32_t> accumulate;  // adds the gradient to the main one, where not fused
  // Sequence parallelism gathers the input of a column-parallel layer and the output gradient of a
  // row-parallel one, in this type.
  DataType gathered = DataType::kBf16;
  // In fp8, what stands before the gather, or before products that are cut: quantises their input,
  // or their output gradient. Without: the product does, or what stands before the layer.
  std::optional<uint32_t> input_cast, gradient_cast;
  // With overlap.tensor: in place of the whole ones, with communication between the parts.
  PartWork forward_parts, gradient_parts;
  std::optional<uint32_t> sum;  // of the parts that other ranks sent (ScatterForm::kRing)
  bool userbuffers = false;     // its communication is Transformer Engine's own
};

// Where a column-parallel layer's input comes from: a norm that Transformer Engine fuses with the
// layer, which writes fp8 itself, or elsewhere.
enum class InputFrom : uint8_t { kNorm, kElsewhere };

struct TwoWayWork {
  uint32_t forward = 0;
  uint32_t backward = 0;
};

// References outlive the maker.
class SubmoduleMaker {
 public:
  SubmoduleMaker(const TrainingJob& job, const ParallelLayout& layout, WorkTables* tables);

  Submodule Base(const std::string& name, SubmoduleKind kind, int64_t rows, int64_t n) const;
  uint32_t Add(Submodule s, Pass pass);
  TwoWayWork BothWays(const Submodule& s);

  // rows x n x k. `bias`: one that belongs to the product itself, not to what follows it. In fp8
  // where the job's layers are, which the head never is.
  LinearWork Linear(const std::string& name, int64_t rows, int64_t n, int64_t k, bool bias);
  // Layers of Transformer Engine that communicate over tensor parallelism; in fp8 they gather fp8.
  LinearWork ColumnLinear(const std::string& name, int64_t rows, int64_t n, int64_t k, bool bias,
                          InputFrom from);
  LinearWork RowLinear(const std::string& name, int64_t rows, int64_t n, int64_t k);
  // The same two, overlapped with their communication where the job says so: the input comes part
  // of the rows by part, the output leaves part of the columns, or of the rows, by part.
  LinearWork OverlappedColumnLinear(const std::string& name, int64_t rows, int64_t n, int64_t k,
                                    bool bias, InputFrom from);
  LinearWork OverlappedRowLinear(const std::string& name, int64_t rows, int64_t n, int64_t k,
                                 ScatterForm form);
  LinearWork HeadLinear(const std::string& name, int64_t rows, int64_t n, int64_t k);
  // `experts` products that share the rows.
  LinearWork GroupedLinear(const std::string& name, int64_t rows, int64_t n, int64_t k,
                           int64_t experts);
  TwoWayWork Norm(const std::string& name, int64_t rows, int64_t width);
  TwoWayWork Activation(const std::string& name, int64_t rows, int64_t width);
  TwoWayWork Residual(const std::string& name);

  const TrainingJob& job() const { return job_; }
  const ModelShape& model() const { return job_.model; }
  const ParallelLayout& layout() const { return layout_; }
  int64_t rows() const { return rows_; }              // t: tokens of a micro-batch on this rank
  int64_t local_rows() const { return local_rows_; }  // t, or t / tensor under sequence parallelism

 private:
  Submodule LinearOf(const std::string& name, int64_t rows, int64_t n, int64_t k, bool bias) const;
  LinearWork Products(Submodule s);
  // Of the columns' or of a rank's rows.
  PartWork ColumnParts(Submodule s, Pass pass);
  PartWork RowParts(Submodule s, Pass pass);
  uint32_t Quantise(const std::string& name, int64_t rows, int64_t n, bool unturned, Pass pass);
  bool engine_fp8() const { return job_.training.precision.fp8 && job_.training.kernels.fused; }
  bool overlaps() const { return job_.overlap.tensor && layout_.tensor > 1; }
  uint32_t Accumulation(const Submodule& linear);

  const TrainingJob& job_;
  const ParallelLayout& layout_;
  WorkTables* tables_;
  int64_t rows_ = 0;
  int64_t local_rows_ = 0;
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_WORK_SUBMODULE_MAKER_H_
