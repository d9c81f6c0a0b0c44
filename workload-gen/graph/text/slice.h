// Selects ops and ranks for dump, dot and graphml.
#ifndef DRYDOCK_WORKLOAD_GEN_GRAPH_TEXT_SLICE_H_
#define DRYDOCK_WORKLOAD_GEN_GRAPH_TEXT_SLICE_H_

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/workload.h"

namespace drydock {

// Lists as the user writes them ("0-3,8"). An empty list selects all.
struct SliceWords {
  std::string ranks, ops, layers, micro_batches;
};

class Slice {
 public:
  // Returns an error if a list is malformed or names a rank that does not exist.
  static Result<Slice> Make(const SliceWords& words, const Workload& workload);

  const std::vector<int>& ranks() const { return ranks_; }
  bool Has(const Op& op, uint32_t index) const {
    return Within(ops_, static_cast<int64_t>(index)) && Within(layers_, op.layer) &&
           Within(micro_batches_, op.microbatch);
  }
  // Returns the number of selected ops over all selected ranks.
  size_t CountOps(const Workload& workload) const;

 private:
  // By number; if empty, all are selected.
  static bool Within(const std::vector<bool>& set, int64_t number) {
    return set.empty() || (number >= 0 && number < static_cast<int64_t>(set.size()) &&
                           set[static_cast<size_t>(number)]);
  }
  std::vector<int> ranks_;
  std::vector<bool> ops_, layers_, micro_batches_;
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_GRAPH_TEXT_SLICE_H_
