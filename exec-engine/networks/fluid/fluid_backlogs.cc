#include "exec-engine/networks/fluid/fluid_backlogs.h"

#include <algorithm>

namespace drydock {
namespace {

// Returns Time::Max() if the time does not fit.
Time TimeFor(__int128 backlog, int64_t rate) {
  const __int128 ps = (backlog + rate - 1) / rate;
  return ps < Time::Max().ps() ? Time::Ps(static_cast<int64_t>(ps)) : Time::Max();
}

}  // namespace

FluidBacklogs::FluidBacklogs(const std::vector<int64_t>& capacities) : queues_(capacities.size()) {
  for (size_t i = 0; i < capacities.size(); ++i) queues_[i].capacity = capacities[i];
}

FluidBacklogs::Queue& FluidBacklogs::Advance(uint32_t link, Time now) {
  Queue& queue = queues_[link];
  const __int128 more =
      static_cast<__int128>(queue.arriving - queue.capacity) * (now - queue.since).ps();
  queue.backlog = std::max<__int128>(queue.backlog + more, 0);
  queue.since = now;
  return queue;
}

void FluidBacklogs::Arrive(uint32_t link, int64_t change, Time now) {
  Advance(link, now).arriving += change;
}

void FluidBacklogs::SetCapacity(uint32_t link, int64_t bits_per_second, Time now) {
  Advance(link, now).capacity = bits_per_second;
}

Time FluidBacklogs::Wait(uint32_t link, Time now) {
  const Queue& known = queues_[link];
  if (known.backlog == 0 && known.arriving <= known.capacity) return Time();
  const Queue& queue = Advance(link, now);
  return queue.backlog == 0 ? Time() : TimeFor(queue.backlog, queue.capacity);
}

int64_t FluidBacklogs::SendingRate(uint32_t link, Time now) {
  const Queue& queue = Advance(link, now);
  return queue.backlog > 0 ? queue.capacity : std::min(queue.arriving, queue.capacity);
}

Time FluidBacklogs::DrainTime(uint32_t link, Time now) {
  const Queue& queue = Advance(link, now);
  if (queue.backlog == 0) return now;
  if (queue.arriving >= queue.capacity) return Time::Max();
  const Time left = TimeFor(queue.backlog, queue.capacity - queue.arriving);
  return left < Time::Max() - now ? now + left : Time::Max();
}

}  // namespace drydock
