#include "exec-engine/networks/fluid/fluid_fabric.h"

#include <algorithm>

namespace drydock {

FluidFabric::FluidFabric(const std::vector<int64_t>& capacities)
    : sharing_(capacities),
      backlogs_(capacities),
      nominal_(capacities),
      changed_(capacities.size(), false),
      drains_(capacities.size(), Time::Max()) {}

uint32_t FluidFabric::Add(std::span<const Use> data, std::span<const Use> acknowledgements,
                          int64_t limit) {
  pairs_.emplace_back();
  return sharing_.AddFlow(data, acknowledgements, limit);
}

void FluidFabric::Move(uint32_t number, std::span<const Use> data,
                       std::span<const Use> acknowledgements, Time now) {
  sharing_.Move(number, data, acknowledgements);
  if (!pairs_[number].active || pairs_[number].bypasses) return;
  for (const Use& use : data) Reserve(use.link, now);
}

void FluidFabric::SetCapacity(uint32_t link, int64_t bits_per_second, Time now) {
  sharing_.SetCapacity(link, bits_per_second);
  backlogs_.SetCapacity(link, bits_per_second, now);
  changed_[link] = bits_per_second != nominal_[link];
  Reserve(link, now);
}

std::vector<uint32_t> FluidFabric::StopBypassing(Time now) {
  std::vector<uint32_t> stopped;
  for (uint32_t number = 0; number < pairs_.size(); ++number) {
    if (!pairs_[number].active || !pairs_[number].bypasses) continue;
    End(number, now);
    Begin(number, now);
    stopped.push_back(number);
  }
  return stopped;
}

bool FluidFabric::MayBypass(uint32_t number) const {
  if (bound(number) == 0) return false;
  const std::span<const Use> behind = Behind(number);
  return std::none_of(behind.begin(), behind.end(), [this](const Use& use) {
    return pairs_on(use.link) > 0 || changed_[use.link];
  });
}

void FluidFabric::BeginBypassing(uint32_t number, int64_t pace) {
  pairs_[number].active = pairs_[number].bypasses = true;
  sharing_.BeginAtFirstLink(number, pace);
}

void FluidFabric::Begin(uint32_t number, Time now) {
  pairs_[number].active = true;
  pairs_[number].bypasses = false;
  sharing_.Begin(number);
  for (const Use& use : data(number)) Reserve(use.link, now);
}

void FluidFabric::End(uint32_t number, Time now) {
  SetRate(number, 0, now);
  sharing_.End(number);
  pairs_[number].active = pairs_[number].bypasses = false;
}

void FluidFabric::SetRate(uint32_t number, int64_t rate, Time now) {
  Pair& pair = pairs_[number];
  const int64_t before = pair.rate;
  pair.rate = rate;
  if (!pair.bypasses) return;
  for (const Use& use : Behind(number)) {
    const auto part = [&use](__int128 all) {
      return static_cast<int64_t>(all * use.share / FluidSharing::kWhole);
    };
    backlogs_.Arrive(use.link, part(rate) - part(before), now);
    if (pairs_on(use.link) > 0) Reserve(use.link, now);
  }
}

// Reserves the capacity of the link that its backlog needs, until the backlog has drained.
void FluidFabric::Reserve(uint32_t link, Time now) {
  sharing_.Reserve(link, backlogs_.SendingRate(link, now));
  const Time drained = backlogs_.DrainTime(link, now);
  if (drained == now || drained == Time::Max() || drained == drains_[link]) return;
  drains_[link] = drained;
  to_drain_.push_back({link, drained});
}

void FluidFabric::Drained(uint32_t link, Time now) {
  if (drains_[link] != now) return;  // the prediction has changed
  drains_[link] = Time::Max();
  Reserve(link, now);
}

Time FluidFabric::Wait(uint32_t number, Time now) {
  Time longest;
  if (!pairs_[number].bypasses) return longest;
  for (const Use& use : Behind(number)) {
    longest = std::max(longest, backlogs_.Wait(use.link, now));
  }
  return longest;
}

}  // namespace drydock
