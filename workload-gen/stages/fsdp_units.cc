#include "workload-gen/stages/fsdp_units.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace drydock {
namespace {

// The least that megatron_fsdp.py communicates at once, if communication_elements does not say.
constexpr int64_t kLeastElements = 1000000000;

// Multi-token prediction has its own norms and product outside its transformer layer.
bool IsInUnit(const Parameter& parameter) {
  return parameter.layer >= 0 && parameter.kind < ParameterKind::kMtpTokenNorm;
}

}  // namespace

std::vector<Bucket> MakeUnitBuckets(const std::vector<Parameter>& parameters,
                                    const TrainingJob& job, const ParallelLayout& layout) {
  const bool by_unit = job.megatron_fsdp.sharding != ParameterSharding::kNoShard;
  int64_t size = 0;  // of buckets outside units; 0: one bucket
  if (job.overlap.grad_reduce) {
    size = job.training.optimizer.bucket_elements > 0
               ? job.training.optimizer.bucket_elements
               : DefaultBucketElements(layout.gradient_ranks());
  }
  std::vector<Bucket> outside, units;
  std::map<std::pair<int, bool>, size_t> place;  // in `units`
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Parameter& parameter = parameters[i];
    const bool in_unit = by_unit && IsInUnit(parameter);
    Bucket* bucket = nullptr;
    if (in_unit) {
      const auto [at, added] =
          place.emplace(std::make_pair(parameter.layer, parameter.expert), units.size());
      if (added) units.emplace_back();
      bucket = &units[at->second];
      bucket->unit = parameter.layer;
    } else {
      for (Bucket& open : outside) {
        const bool full = size > 0 && open.elements >= size;
        if (open.expert == parameter.expert && !full) bucket = &open;
      }
      if (bucket == nullptr) bucket = &outside.emplace_back();
    }
    bucket->expert = parameter.expert;
    bucket->elements += parameter.elements;
    bucket->parameters.push_back(i);
  }
  outside.insert(outside.end(), units.begin(), units.end());
  for (Bucket& bucket : outside) {
    const int64_t ranks = bucket.expert ? layout.expert_data() : layout.gradient_ranks();
    bucket.elements = (bucket.elements + ranks - 1) / ranks * ranks;
  }
  return outside;
}

int64_t CommunicationElements(const std::vector<Bucket>& buckets, const MegatronFsdpRules& rules) {
  if (rules.communication_elements > 0) return rules.communication_elements;
  if (!rules.shards_parameters()) return kLeastElements;
  int64_t elements = 0;
  std::set<int> units;
  for (const Bucket& bucket : buckets) {
    if (bucket.unit < 0) continue;
    elements += bucket.elements;
    units.insert(bucket.unit);
  }
  const auto count = std::max<int64_t>(1, static_cast<int64_t>(units.size()));
  return std::max(kLeastElements, elements / count * 2);
}

std::vector<size_t> GatherWindow(const std::vector<Bucket>& buckets,
                                 const std::vector<size_t>& wanted, bool forward,
                                 const MegatronFsdpRules& rules) {
  std::vector<size_t> window = wanted;
  std::set<int> units;
  for (const size_t i : wanted) {
    if (buckets[i].unit >= 0) units.insert(buckets[i].unit);
  }
  if (wanted.empty() || (rules.double_buffer && units.empty())) return window;
  const int64_t limit = CommunicationElements(buckets, rules) / 2;
  const size_t step = forward ? 1 : SIZE_MAX;
  int64_t ahead = 0;
  // A bucket that is wanted ends the run of those before it.
  size_t next = forward ? wanted.front() + 1 : wanted.back() - 1;
  while (std::find(wanted.begin(), wanted.end(), next) != wanted.end()) next += step;
  for (; next < buckets.size() && ahead < limit; next += step) {
    units.insert(buckets[next].unit);
    if (rules.double_buffer && units.size() > 2) break;
    window.push_back(next);
    ahead += buckets[next].elements;
  }
  return window;
}

int64_t GatheredElements(const std::vector<Bucket>& buckets, const MegatronFsdpRules& rules) {
  int64_t most = 0;
  for (size_t i = 0; i < buckets.size(); ++i) {
    std::vector<size_t> wanted;
    for (size_t j = 0; j < buckets.size(); ++j) {
      if (buckets[j].unit == buckets[i].unit) wanted.push_back(j);
    }
    for (const bool forward : {true, false}) {
      int64_t sum = 0;
      for (const size_t j : GatherWindow(buckets, wanted, forward, rules)) {
        if (buckets[j].unit >= 0) sum += buckets[j].elements;
      }
      most = std::max(most, sum);
    }
  }
  return most;
}

}  // namespace drydock
