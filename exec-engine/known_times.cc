#include "exec-engine/known_times.h"

#include <utility>

namespace drydock {

size_t KnownTimes::OffsetsHash::operator()(const Offsets& offsets) const {
  uint64_t hash = 0x9e3779b97f4a7c15u;
  for (const int64_t offset : offsets) {
    hash = (hash ^ static_cast<uint64_t>(offset)) * 0xff51afd7ed558ccdu;
    hash ^= hash >> 32;
  }
  return static_cast<size_t>(hash);
}

const KnownTimes::Times& KnownTimes::OfPlan::Find(const Offsets& offsets,
                                                  const std::function<Times()>& play) {
  const std::lock_guard lock(
      mutex_);  // while it plays, too: others wait for what they want as well
  std::unique_ptr<const Times>& times = times_[offsets];
  if (times == nullptr) times = std::make_unique<const Times>(play());
  return *times;
}

KnownTimes::OfPlan* KnownTimes::For(const Plan* plan, int host_kind, std::vector<int> gpus) {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<OfPlan>& known = plans_[{plan, host_kind, std::move(gpus)}];
  if (known == nullptr) known = std::make_unique<OfPlan>();
  return known.get();
}

}  // namespace drydock
