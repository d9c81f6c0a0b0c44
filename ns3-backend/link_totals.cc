#include "ns3-backend/link_totals.h"

#include <algorithm>

namespace drydock {

using ns3::rdma::FabricDirection;
using ns3::rdma::FabricHelper;
using ns3::rdma::FabricMap;
using ns3::rdma::FabricNode;
using Switch = ns3::rdma::FabricSwitch;

namespace {

std::string EndName(const FabricMap& map, uint32_t node, int nic) {
  return map.NameOf(node) + (nic < 0 ? "" : "/nic" + std::to_string(nic));
}

}  // namespace

std::string StartOfLink(const FabricMap& map, uint32_t link) {
  const FabricDirection& direction = map.GetDirection(link);
  return EndName(map, direction.fromNode, direction.fromNic);
}

std::string EndOfLink(const FabricMap& map, uint32_t link) {
  const FabricDirection& direction = map.GetDirection(link);
  return EndName(map, direction.toNode, direction.toNic);
}

LinkTotal TotalOf(const FabricHelper& fabric, uint32_t link, int64_t now) {
  const FabricDirection& direction = fabric.GetMap().GetDirection(link);
  const FabricNode& sender = fabric.GetNode(direction.fromNode);
  LinkTotal total;
  total.from = StartOfLink(fabric.GetMap(), link);
  total.to = EndOfLink(fabric.GetMap(), link);
  total.rate = direction.made;
  total.sent = Bytes(static_cast<int64_t>(sender.GetEgress(direction.fromPort).bytes));
  total.paused = Time::Ps(sender.GetPausedTime(direction.fromPort, now));
  if (direction.fromNic < 0) {
    const auto& counts = static_cast<const Switch&>(sender).GetPortCounts(direction.fromPort);
    total.most_queued = Bytes(counts.mostQueued);
    total.marked = static_cast<int64_t>(counts.marked);
    total.dropped = static_cast<int64_t>(counts.dropped);
  }
  return total;
}

std::vector<LinkTotal> BusiestLinks(const FabricHelper& fabric, size_t most) {
  struct Use {
    int64_t busy;  // ps
    uint32_t link;
  };
  const FabricMap& map = fabric.GetMap();
  std::vector<Use> uses;
  int64_t end = 0;
  for (uint32_t link = 0; link < map.GetNLinks(); ++link) {
    const FabricDirection& direction = map.GetDirection(link);
    const FabricNode& sender = fabric.GetNode(direction.fromNode);
    end = std::max(end, sender.LocalTime());
    const auto sent = static_cast<int64_t>(sender.GetEgress(direction.fromPort).bytes);
    if (sent > 0) uses.push_back({direction.made.TimeFor(Bytes(sent)).ps(), link});
  }
  const auto kept = static_cast<ptrdiff_t>(std::min(most, uses.size()));
  std::partial_sort(uses.begin(), uses.begin() + kept, uses.end(), [](const Use& a, const Use& b) {
    return a.busy != b.busy ? a.busy > b.busy : a.link < b.link;
  });
  std::vector<LinkTotal> totals;
  for (ptrdiff_t i = 0; i < kept; ++i) {
    totals.push_back(TotalOf(fabric, uses[static_cast<size_t>(i)].link, end));
  }
  return totals;
}

}  // namespace drydock
