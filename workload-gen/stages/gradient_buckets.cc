#include "workload-gen/stages/gradient_buckets.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace drydock {
namespace {

// The start of a shard is aligned for the widest vector access, the end of a bucket for equal
// shards.
constexpr int64_t kParameterAlignment = 64;
constexpr int64_t kBucketAlignment = 128;

int64_t RoundUp(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

class Filler {
 public:
  explicit Filler(const BucketRule& rule) : rule_(rule) {}

  void Add(size_t index, const Parameter& parameter) {
    const bool apart = rule_.distributed_optimizer && parameter.tied;
    if (apart) Close();
    if (rule_.distributed_optimizer) open_.elements = RoundUp(open_.elements, kParameterAlignment);
    open_.elements += parameter.elements;
    open_.parameters.push_back(index);
    sizes_.push_back(parameter.elements);
    if (apart || (rule_.elements > 0 && open_.elements >= rule_.elements)) Close();
  }

  void Close() {
    if (open_.parameters.empty()) return;
    if (rule_.distributed_optimizer) {
      open_.elements = RoundUp(open_.elements, std::lcm(int64_t{rule_.data}, kBucketAlignment));
    }
    if (rule_.tensors == BucketRule::Tensors::kMatrices) Place();
    sizes_.clear();
    open_.expert = rule_.expert;
    buckets_.push_back(std::move(open_));
    open_ = Bucket();
  }

  std::vector<Bucket> Take() {
    Close();
    return std::move(buckets_);
  }

 private:
  // All ranks have as many elements as the fullest, which gets the largest tensors first.
  void Place() {
    std::sort(sizes_.begin(), sizes_.end(), std::greater<>());
    std::vector<int64_t> ranks(static_cast<size_t>(rule_.data), 0);
    for (const int64_t size : sizes_) {
      int64_t& least = *std::min_element(ranks.begin(), ranks.end());
      least = RoundUp(least, kParameterAlignment) + size;
    }
    const int64_t most = *std::max_element(ranks.begin(), ranks.end());
    open_.elements = RoundUp(most, kBucketAlignment) * rule_.data;
    open_.whole_tensors = true;
  }

  BucketRule rule_;
  Bucket open_;
  std::vector<int64_t> sizes_;
  std::vector<Bucket> buckets_;
};

}  // namespace

std::vector<Bucket> MakeBuckets(const std::vector<Parameter>& parameters, const BucketRule& rule) {
  Filler filler(rule);
  for (size_t i = parameters.size(); i-- > 0;) {
    if (parameters[i].expert != rule.expert || parameters[i].frozen) continue;
    const bool matrix = IsMuonMatrix(parameters[i].kind);
    if (rule.tensors == BucketRule::Tensors::kMatrices && !matrix) continue;
    if (rule.tensors == BucketRule::Tensors::kOthers && matrix) continue;
    filler.Add(i, parameters[i]);
  }
  return filler.Take();
}

int64_t DefaultBucketElements(int data) {
  return std::max(int64_t{40000000}, int64_t{1000000} * data);
}

}  // namespace drydock
