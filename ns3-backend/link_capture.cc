#include "ns3-backend/link_capture.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "core/base/check.h"
#include "core/base/files.h"
#include "core/base/parcel.h"
#include "core/base/spelling.h"
#include "ns3-backend/link_totals.h"
#include "ns3-backend/pcap_file.h"
#include "ns3/callback.h"
#include "ns3/net-device.h"

namespace drydock {

using ns3::rdma::FabricDirection;
using ns3::rdma::FabricHelper;
using ns3::rdma::FabricMap;
using ns3::rdma::Frame;

namespace {

// Returns the cables between both ends, or all cables of one end, by their first link.
std::vector<uint32_t> CablesOf(const FabricMap& map, const CaptureOptions& options) {
  std::vector<uint32_t> cables;
  for (uint32_t link = 0; link < map.link_count(); link += 2) {
    const std::string a = StartOfLink(map, link), b = EndOfLink(map, link);
    const bool between = (a == options.end && b == options.other_end) ||
                         (b == options.end && a == options.other_end);
    const bool at_end = options.other_end.empty() && (a == options.end || b == options.end);
    if (between || at_end) cables.push_back(link);
  }
  return cables;
}

Error NoSuchLink(const FabricMap& map, const CaptureOptions& options) {
  const Location place = {
      "--pcap " + options.end + (options.other_end.empty() ? "" : "," + options.other_end), 0, 0};
  std::set<std::string> ends;
  for (uint32_t link = 0; link < map.link_count(); ++link) ends.insert(StartOfLink(map, link));
  for (const std::string& end : {options.end, options.other_end}) {
    if (end.empty() || ends.contains(end)) continue;
    return Error(fmt::format("no cable of the fabric ends at '{}'{}", end,
                             DidYouMean(end, {ends.begin(), ends.end()})),
                 place);
  }
  return Error(fmt::format("no cable connects '{}' and '{}'", options.end, options.other_end),
               place);
}

}  // namespace

Result<std::unique_ptr<LinkCapture>> LinkCapture::Create(const FabricHelper& fabric,
                                                         const CaptureOptions& options) {
  const FabricMap& map = fabric.GetMap();
  const std::vector<uint32_t> cables = CablesOf(map, options);
  if (cables.empty()) return NoSuchLink(map, options);
  std::unique_ptr<LinkCapture> capture(new LinkCapture(fabric, options.file));
  for (const uint32_t cable : cables) {
    for (const uint32_t link : {cable, cable + 1}) {
      capture->directions_.push_back(std::make_unique<Direction>(Direction{link, {}}));
      const FabricDirection& direction = map.direction(link);
      const auto device = fabric.GetNode(direction.from_node).GetDevice(direction.from_port);
      CHECK(device->TraceConnectWithoutContext(
          "Transmit",
          ns3::MakeBoundCallback(&LinkCapture::See, capture->directions_.back().get())));
    }
  }
  return capture;
}

void LinkCapture::See(Direction* direction, const Frame& frame, int64_t now) {
  direction->frames.push_back({frame, now});
}

void LinkCapture::Gather(Processes* processes) {
  std::string own;
  for (const auto& direction : directions_) {
    Pack(direction->frames, &own);
    direction->frames.clear();
  }
  for (const std::string& parcel : processes->GatherAtFirst(std::move(own))) {
    Unpacker unpacker(parcel);
    for (const auto& direction : directions_) {
      std::vector<Seen> frames;
      unpacker.Take(&frames);
      direction->frames.insert(direction->frames.end(), frames.begin(), frames.end());
    }
  }
}

Status LinkCapture::Write(Processes* processes) {
  if (processes->count() > 1) Gather(processes);
  return processes->Agree(processes->first() ? WriteHere() : OkStatus());
}

Status LinkCapture::WriteHere() const {
  struct Packet {
    const Seen* seen;
    uint32_t link;
  };
  std::vector<Packet> packets;
  for (const auto& direction : directions_) {
    for (const Seen& seen : direction->frames) packets.push_back({&seen, direction->link});
  }
  // Frames of one link never begin at the same time.
  std::sort(packets.begin(), packets.end(), [](const Packet& a, const Packet& b) {
    return std::tuple(a.seen->time, a.link) < std::tuple(b.seen->time, b.link);
  });
  std::string file = PcapHeader();
  for (const Packet& packet : packets) {
    AppendPacket(fabric_.GetMap(), packet.link, packet.seen->frame, packet.seen->time, &file);
  }
  return WriteFileAtomically(file_, file);
}

}  // namespace drydock
