// Makes the submodules of a transformer on one rank and enters them in the tables: what the makers
// of attention, MLP, experts, embedding and head have in common.
#ifndef DRYDOCK_WORKLOAD_GEN_SUBMODULE_MAKER_H_
#define DRYDOCK_WORKLOAD_GEN_SUBMODULE_MAKER_H_

#include <optional>
#include <string>

#include "workload-gen/layout.h"
#include "workload-gen/training_job.h"
#include "workload-gen/work_tables.h"

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
  // With overlap.tensor: in place of the whole ones, with communication between the parts.
  PartWork forward_parts, gradient_parts;
  bool userbuffers = false;  // its communication is Transformer Engine's own
};

// Parts of a row-parallel layer's product between which Transformer Engine reduces and scatters:
// num_splits in its pytorch/module/base.py.
inline constexpr int kScatterParts = 4;

struct TwoWayWork {
  uint32_t forward = 0;
  uint32_t backward = 0;
};

// References outlive the maker.
class SubmoduleMaker {
 public:
  SubmoduleMaker(const TrainingJob& job, const Layout& layout, WorkTables* tables);

  Submodule Base(const std::string& name, SubmoduleKind kind, int64_t rows, int64_t n) const;
  uint32_t Add(Submodule s, Pass pass);
  TwoWayWork BothWays(const Submodule& s);

  // rows x n x k. `bias`: one that belongs to the product itself, not to what follows it. In fp8
  // where the job's layers are, which the head never is.
  LinearWork Linear(const std::string& name, int64_t rows, int64_t n, int64_t k, bool bias);
  // Layers that Transformer Engine overlaps with their tensor-parallel communication, where the job
  // says so: the input of a column-parallel one comes part of the rows by part, the output of a
  // row-parallel one leaves part of the columns by part.
  LinearWork ColumnLinear(const std::string& name, int64_t rows, int64_t n, int64_t k, bool bias);
  LinearWork RowLinear(const std::string& name, int64_t rows, int64_t n, int64_t k);
  LinearWork HeadLinear(const std::string& name, int64_t rows, int64_t n, int64_t k);
  // `experts` products that share the rows.
  LinearWork GroupedLinear(const std::string& name, int64_t rows, int64_t n, int64_t k,
                           int64_t experts);
  TwoWayWork Norm(const std::string& name, int64_t rows, int64_t width);
  TwoWayWork Activation(const std::string& name, int64_t rows, int64_t width);
  TwoWayWork Residual(const std::string& name);

  const TrainingJob& job() const { return job_; }
  const ModelShape& model() const { return job_.model; }
  const Layout& layout() const { return layout_; }
  int64_t rows() const { return rows_; }              // t: tokens of a micro-batch on this rank
  int64_t local_rows() const { return local_rows_; }  // t, or t / tensor under sequence parallelism

 private:
  Submodule LinearOf(const std::string& name, int64_t rows, int64_t n, int64_t k, bool bias) const;
  LinearWork Products(Submodule s);
  PartWork RowParts(Submodule s, Pass pass);
  bool overlaps() const { return job_.overlap.tensor && layout_.tensor > 1; }
  uint32_t Accumulation(const Submodule& linear);

  const TrainingJob& job_;
  const Layout& layout_;
  WorkTables* tables_;
  int64_t rows_ = 0;
  int64_t local_rows_ = 0;
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_SUBMODULE_MAKER_H_
