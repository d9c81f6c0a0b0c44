#include "workload-gen/work/adapter_work.h"

namespace drydock {

// A column-parallel layer's adapter splits the first product by the rank and the second by the
// layer's columns; a row-parallel layer's splits the first by the layer's rows and the second by
// the hidden size. The second product of a row-parallel layer's adapter then has whole rows, and
// after the exchange only this rank's rows.
std::shared_ptr<const AdapterWork> MakeAdapter(SubmoduleMaker* maker, const std::string& name,
                                               const AdapterShape& shape) {
  const LoraShape& lora = maker->model().lora;
  const int64_t tensor = maker->layout().tensor, rows = shape.rows;
  const bool columns = shape.split == LinearSplit::kColumns;
  const int64_t left = columns ? rows : maker->local_rows();  // rows of the sum
  AdapterWork work;
  work.width = shape.k;
  if (lora.dropout > 0) {
    work.dropout = maker->ForwardBackward(
        name + ".adapter-dropout",
        submodule::BiasDropoutAdd{.rows = rows, .n = shape.k, .dropout = true});
  }
  work.in = maker->TrainedLinear(name + ".adapter-in", rows,
                                 columns ? lora.rank / tensor : lora.rank, shape.k);
  work.out = maker->TrainedLinear(name + ".adapter-out", rows, columns ? shape.n : shape.n / tensor,
                                  lora.rank);
  work.scale = maker->ForwardBackward(name + ".adapter-scale",
                                      submodule::Add{.rows = left, .n = shape.n, .summands = 1});
  work.sum.forward =
      maker->Add(name + ".adapter-sum", submodule::Add{.rows = left, .n = shape.n}, Pass::kForward);
  work.sum.backward = maker->Add(name + ".adapter-sum", submodule::Add{.rows = rows, .n = shape.k},
                                 Pass::kBackward);
  work.split =
      maker->Add(name + ".adapter-sum", submodule::Add{.rows = maker->local_rows(), .n = shape.k},
                 Pass::kBackward);
  return std::make_shared<const AdapterWork>(work);
}

}  // namespace drydock
