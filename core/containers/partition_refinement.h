// Partition refinement: splits the elements 0..n-1 into classes by their signatures, round after
// round, until the coarsest stable partition is reached (Paige and Tarjan, "Three partition
// refinement algorithms", SIAM J. Comput. 16, 1987: the naive method; on graphs: color refinement).
//
//   do {
//     changed = partition.Split([&](size_t element, Signature* s) { ... from partition.class_of()
//     });
//   } while (changed);
//
// Exact: two elements stay in one class only if their whole signatures are equal. The hash only
// finds the signature to compare with. Not thread-safe.
#ifndef DRYDOCK_CORE_CONTAINERS_PARTITION_REFINEMENT_H_
#define DRYDOCK_CORE_CONTAINERS_PARTITION_REFINEMENT_H_

#include <cstddef>
#include <cstdint>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/containers/hash.h"

namespace drydock {

using Signature = std::vector<int64_t>;

// Returns two numbers of 32 bits as one element of a signature.
inline int64_t InOneNumber(int32_t high, uint32_t low) {
  return static_cast<int64_t>(static_cast<uint64_t>(static_cast<uint32_t>(high)) << 32 | low);
}

// Numbers signatures from 0 in the order in which they first appear. Equal signatures have equal
// numbers, and different ones different numbers.
template <typename Hash = RangeHash>
class SignatureNumbers {
 public:
  int Of(const Signature& signature) {
    return numbers_.try_emplace(signature, count()).first->second;
  }
  int count() const { return static_cast<int>(numbers_.size()); }

 private:
  std::unordered_map<Signature, int, Hash> numbers_;  // only looked up
};

template <typename Hash = RangeHash>
class PartitionRefinement {
 public:
  // Begins with the given classes, which may have any numbers.
  explicit PartitionRefinement(std::vector<int> class_of)
      : class_of_(std::move(class_of)),
        count_(static_cast<int>(std::set<int>(class_of_.begin(), class_of_.end()).size())) {}

  const std::vector<int>& class_of() const { return class_of_; }
  int count() const { return count_; }

  // Splits each class by the signatures that `append(element, &signature)` appends. Numbers the
  // classes from 0 in the order of their first elements. Returns whether a class was split.
  template <typename Append>
  bool Split(const Append& append) {
    SignatureNumbers<Hash> numbers;
    std::vector<int> next;
    next.reserve(class_of_.size());
    Signature signature;
    for (size_t element = 0; element < class_of_.size(); ++element) {
      signature.assign(1, class_of_[element]);
      append(element, &signature);
      next.push_back(numbers.Of(signature));
    }
    class_of_ = std::move(next);
    const int before = count_;
    count_ = numbers.count();
    return count_ != before;
  }

 private:
  std::vector<int> class_of_;
  int count_;
};

}  // namespace drydock

#endif  // DRYDOCK_CORE_CONTAINERS_PARTITION_REFINEMENT_H_
