#include "exec-engine/index/known_times.h"

#include <algorithm>
#include <random>
#include <utility>

namespace drydock {
namespace {

// Bounds of the method. A member that arrives kLate lengths of the call after the others finds them
// waiting for it.
constexpr int64_t kLate = 4;
constexpr int kRandomCases = 36, kSpans = 9;

}  // namespace

const KnownTimes::Times& KnownTimes::OfPlan::Find(const Offsets& offsets, const Play& play) {
  // Held while the call is played: the other threads most likely want the same times.
  const std::lock_guard lock(mutex_);
  std::unique_ptr<const Times>& times = times_[offsets];
  if (times == nullptr) times = std::make_unique<const Times>(play(offsets));
  return *times;
}

const KnownTimes::Times* KnownTimes::OfPlan::FromLastArrival(size_t members, const Play& play) {
  const std::lock_guard lock(mutex_);
  if (!examined_) {
    examined_ = true;
    auto together = std::make_unique<const Times>(play(Offsets(members, 0)));
    if (OnlyTheLastMatters(members, *together, play)) from_last_arrival_ = std::move(together);
  }
  return from_last_arrival_.get();
}

bool KnownTimes::OfPlan::OnlyTheLastMatters(size_t members, const Times& together,
                                            const Play& play) {
  const auto holds = [&](const Offsets& offsets) {
    const Times times = play(offsets);
    const Time last = Time::Ps(*std::max_element(offsets.begin(), offsets.end()));
    for (size_t m = 0; m < members; ++m) {
      if (times.end[m] != last + together.end[m]) return false;
      if (times.ready[m] != last + together.ready[m]) return false;
    }
    return true;
  };
  const int64_t whole = std::max_element(together.end.begin(), together.end.end())->ps();
  for (size_t late = 0; late < members; ++late) {
    Offsets offsets(members, 0);
    offsets[late] = kLate * whole;
    if (!holds(offsets)) return false;
  }
  std::mt19937_64 random(members);
  for (int i = 0; i < kRandomCases; ++i) {
    const int64_t span = std::max<int64_t>(kLate * whole >> i % kSpans, 1);
    Offsets offsets(members);
    for (int64_t& offset : offsets) {
      offset = static_cast<int64_t>(random() % static_cast<uint64_t>(span));
    }
    const int64_t first = *std::min_element(offsets.begin(), offsets.end());
    for (int64_t& offset : offsets) offset -= first;
    if (!holds(offsets)) return false;
  }
  return true;
}

KnownTimes::OfPlan* KnownTimes::For(const Plan* plan, int host_kind, std::vector<int64_t> ways) {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<OfPlan>& known = plans_[{plan, host_kind, std::move(ways)}];
  if (known == nullptr) known = std::make_unique<OfPlan>();
  return known.get();
}

}  // namespace drydock
