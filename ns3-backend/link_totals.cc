#include "ns3-backend/link_totals.h"

#include <algorithm>

#include "core/base/parcel.h"

namespace drydock {

using ns3::rdma::FabricDirection;
using ns3::rdma::FabricHelper;
using ns3::rdma::FabricMap;
using ns3::rdma::FabricNode;
using Switch = ns3::rdma::FabricSwitch;

LinkTotal TotalOf(const FabricHelper& fabric, uint32_t link, int64_t now) {
  const FabricDirection& direction = fabric.GetMap().direction(link);
  const FabricNode& sender = fabric.GetNode(direction.from_node);
  LinkTotal total;
  total.from = StartOfLink(fabric.GetMap(), link);
  total.to = EndOfLink(fabric.GetMap(), link);
  total.rate = direction.full_rate;
  total.sent = Bytes(static_cast<int64_t>(sender.GetEgress(direction.from_port).bytes));
  total.paused = Time::Ps(sender.GetPausedTime(direction.from_port, now));
  total.busy = Time::Ps(sender.GetEgress(direction.from_port).busy);
  if (direction.from_nic < 0) {
    const auto& counts = static_cast<const Switch&>(sender).GetPortCounts(direction.from_port);
    total.max_queued = Bytes(counts.maxQueued);
    total.marked = static_cast<int64_t>(counts.marked);
    total.dropped = static_cast<int64_t>(counts.dropped);
  } else {
    const auto& nic = static_cast<const ns3::rdma::RdmaHost&>(sender);
    total.repeated = static_cast<int64_t>(nic.GetNRepeated(direction.from_port));
  }
  return total;
}

namespace {

struct Use {
  int64_t busy;  // ps
  uint32_t link;
};

// Keeps the `most` links that were in use for the longest time, in that order.
template <typename T>
void KeepBusiest(size_t most, std::vector<T>* uses) {
  const auto kept = static_cast<ptrdiff_t>(std::min(most, uses->size()));
  std::partial_sort(uses->begin(), uses->begin() + kept, uses->end(), [](const T& a, const T& b) {
    return a.busy != b.busy ? a.busy > b.busy : a.link < b.link;
  });
  uses->resize(static_cast<size_t>(kept));
}

// A link without its names, which are the same in every process.
struct Numbers : Use {
  Bytes sent, max_queued;
  int64_t marked = 0, dropped = 0, repeated = 0;
  Time paused;
};

}  // namespace

int64_t LastEvent(const FabricHelper& fabric, Processes* processes) {
  int64_t end = 0;
  for (uint32_t link = 0; link < fabric.GetMap().link_count(); ++link) {
    end = std::max(end, fabric.GetNode(fabric.GetMap().direction(link).from_node).LocalTime());
  }
  std::string own;
  Pack(end, &own);
  for (const std::string& each : processes->GatherAll(own)) {
    end = std::max(end, Unpacker(each).Take<int64_t>());
  }
  return end;
}

std::vector<LinkTotal> BusiestLinks(const FabricHelper& fabric, size_t most, int64_t end,
                                    Processes* processes) {
  const FabricMap& map = fabric.GetMap();
  std::vector<Use> uses;
  for (uint32_t link = 0; link < map.link_count(); ++link) {
    const FabricDirection& direction = map.direction(link);
    const FabricNode& sender = fabric.GetNode(direction.from_node);
    const int64_t busy = sender.GetEgress(direction.from_port).busy;
    if (busy > 0) uses.push_back({busy, link});
  }
  KeepBusiest(most, &uses);
  std::vector<Numbers> own;
  for (const Use& use : uses) {
    const LinkTotal total = TotalOf(fabric, use.link, end);
    own.push_back({use, total.sent, total.max_queued, total.marked, total.dropped, total.repeated,
                   total.paused});
  }
  std::string parcel;
  Pack(own, &parcel);
  std::vector<Numbers> all;
  for (const std::string& each : processes->GatherAll(parcel)) {
    std::vector<Numbers> some;
    Unpacker(each).Take(&some);
    all.insert(all.end(), some.begin(), some.end());
  }
  KeepBusiest(most, &all);
  std::vector<LinkTotal> totals;
  for (const Numbers& each : all) {
    totals.push_back({StartOfLink(map, each.link), EndOfLink(map, each.link),
                      map.direction(each.link).full_rate, each.sent, each.max_queued, each.marked,
                      each.dropped, each.repeated, each.paused, Time::Ps(each.busy)});
  }
  return totals;
}

}  // namespace drydock
