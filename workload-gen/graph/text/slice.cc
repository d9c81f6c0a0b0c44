#include "workload-gen/graph/text/slice.h"

#include <algorithm>
#include <numeric>

#include "core/base/cli.h"
#include "core/model/calls/rank_list.h"

namespace drydock {
namespace {

Result<std::vector<bool>> SetOf(const std::string& words) {
  std::vector<bool> set;
  if (words.empty()) return set;
  ASSIGN_OR_RETURN(const std::vector<int> numbers, ParseRanks(words));
  set.resize(static_cast<size_t>(*std::max_element(numbers.begin(), numbers.end())) + 1, false);
  for (const int number : numbers) set[static_cast<size_t>(number)] = true;
  return set;
}

}  // namespace

Result<Slice> Slice::Make(const SliceWords& words, const Workload& workload) {
  Slice slice;
  if (words.ranks.empty()) {
    slice.ranks_.resize(workload.class_of_rank.size());
    std::iota(slice.ranks_.begin(), slice.ranks_.end(), 0);
  } else {
    ASSIGN_OR_RETURN(slice.ranks_, ParseRanks(words.ranks));
    RETURN_IF_ERROR(
        PlacedIn("--ranks " + words.ranks, CheckRanks(slice.ranks_, workload.rank_count())));
  }
  ASSIGN_OR_RETURN(slice.ops_, SetOf(words.ops));
  ASSIGN_OR_RETURN(slice.layers_, SetOf(words.layers));
  ASSIGN_OR_RETURN(slice.micro_batches_, SetOf(words.micro_batches));
  return slice;
}

size_t Slice::CountOps(const Workload& workload) const {
  std::vector<size_t> of_class;
  for (const Program& program : workload.programs) {
    size_t& count = of_class.emplace_back(0);
    for (uint32_t i = 0; i < program.ops.size(); ++i) count += Has(program.ops[i], i) ? 1 : 0;
  }
  size_t count = 0;
  for (const int rank : ranks_) {
    count += of_class[static_cast<size_t>(workload.class_of_rank[static_cast<size_t>(rank)])];
  }
  return count;
}

}  // namespace drydock
