#include "simccl/record/workload/order.h"

#include <algorithm>

namespace drydock {
namespace {

void Add(const RecordOrder::Ops& more, RecordOrder::Ops* ops) {
  ops->insert(ops->end(), more.begin(), more.end());
}

}  // namespace

RecordOrder::Ops RecordOrder::Newest(const Ops& ops) const {
  std::map<uint8_t, uint32_t> newest;
  for (const uint32_t op : ops) {
    uint32_t& kept = newest.emplace(program_.ops[op].stream, op).first->second;
    kept = std::max(kept, op);
  }
  Ops kept;
  for (const auto& [stream, op] : newest) kept.push_back(op);
  std::sort(kept.begin(), kept.end());
  return kept;
}

RecordOrder::Track& RecordOrder::TrackOf(const RecordEntry& entry) {
  Track& track = tracks_[entry.stream];
  track.blocks = entry.stream_blocks != 0;
  return track;
}

// Includes the ops of streams that the entry's stream waits for through the default stream.
RecordOrder::Ops RecordOrder::IssuedOn(const RecordEntry& entry) {
  const Track& own = TrackOf(entry);
  Ops ops = own.tail;
  for (const auto& [stream, track] : tracks_) {
    const bool together = own.blocks && track.blocks && (entry.stream == 0 || stream == 0);
    if (together && stream != entry.stream) Add(track.tail, &ops);
  }
  return Newest(ops);
}

RecordOrder::Ops RecordOrder::Before(const RecordEntry& call) {
  Ops before = host_;
  Add(IssuedOn(call), &before);
  return Newest(before);
}

void RecordOrder::Note(const RecordEntry& entry) {
  switch (entry.kind) {
    case RecordKind::kEventRecord:
      events_[entry.event] = IssuedOn(entry);
      break;
    case RecordKind::kStreamWait: {
      Track& track = TrackOf(entry);
      Add(events_[entry.event], &track.tail);
      track.tail = Newest(track.tail);
      break;
    }
    case RecordKind::kStreamSync:
      Add(IssuedOn(entry), &host_);
      break;
    case RecordKind::kEventSync:
      Add(events_[entry.event], &host_);
      break;
    case RecordKind::kDeviceSync:
      for (const auto& [stream, track] : tracks_) Add(track.tail, &host_);
      break;
    default:
      break;
  }
  host_ = Newest(host_);
}

}  // namespace drydock
