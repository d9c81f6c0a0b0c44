#include "exec-engine/networks/fluid/fluid_links.h"

#include <algorithm>
#include <utility>

#include "exec-engine/networks/fluid/fluid_sharing.h"

namespace drydock {

int64_t FluidCapacity(Bandwidth rate) {
  return std::min(rate.bits_per_second(), FluidSharing::kNoLimit - 1);
}

std::vector<int64_t> FluidCapacities(const FabricMap& map) {
  std::vector<int64_t> capacities;
  for (uint32_t link = 0; link < map.link_count(); ++link) {
    capacities.push_back(FluidCapacity(map.direction(link).rate));
  }
  return capacities;
}

std::vector<LinkTotal> FluidLinkTotals(const FabricMap& map, std::span<const int64_t> bits,
                                       size_t max) {
  std::vector<std::pair<Time, uint32_t>> uses;  // busy time, link
  for (uint32_t link = 0; link < bits.size(); ++link) {
    if (bits[link] == 0) continue;
    uses.push_back({map.direction(link).full_rate.TimeFor(Bytes(bits[link] / 8)), link});
  }
  const auto kept = static_cast<ptrdiff_t>(std::min(max, uses.size()));
  std::partial_sort(uses.begin(), uses.begin() + kept, uses.end(),
                    [](const auto& a, const auto& b) {
                      return a.first != b.first ? a.first > b.first : a.second < b.second;
                    });
  std::vector<LinkTotal> totals;
  for (ptrdiff_t i = 0; i < kept; ++i) {
    const auto [busy, link] = uses[static_cast<size_t>(i)];
    LinkTotal& total = totals.emplace_back();
    total.from = StartOfLink(map, link);
    total.to = EndOfLink(map, link);
    total.rate = map.direction(link).full_rate;
    total.sent = Bytes(bits[link] / 8);
    total.busy = busy;
  }
  return totals;
}

}  // namespace drydock
