#include "workload-gen/stages/gradient_buckets.h"

#include <algorithm>
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
    if (apart || (rule_.elements > 0 && open_.elements >= rule_.elements)) Close();
  }

  void Close() {
    if (open_.parameters.empty()) return;
    if (rule_.distributed_optimizer) {
      open_.elements = RoundUp(open_.elements, std::lcm(int64_t{rule_.data}, kBucketAlignment));
    }
    open_.expert = rule_.expert;
    buckets_.push_back(std::move(open_));
    open_ = Bucket();
  }

  std::vector<Bucket> Take() {
    Close();
    return std::move(buckets_);
  }

 private:
  BucketRule rule_;
  Bucket open_;
  std::vector<Bucket> buckets_;
};

}  // namespace

std::vector<Bucket> MakeBuckets(const std::vector<Parameter>& parameters, const BucketRule& rule) {
  Filler filler(rule);
  for (size_t i = parameters.size(); i-- > 0;) {
    if (parameters[i].expert != rule.expert || parameters[i].frozen) continue;
    filler.Add(i, parameters[i]);
  }
  return filler.Take();
}

int64_t DefaultBucketElements(int data) {
  return std::max(int64_t{40000000}, int64_t{1000000} * data);
}

}  // namespace drydock
