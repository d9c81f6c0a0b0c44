#include "exec-engine/replay/gather.h"

#include <algorithm>
#include <string>
#include <utility>

#include "core/base/parcel.h"

namespace drydock {

RunState GatherState(RunState own, Processes* processes) {
  std::string parcel;
  Pack(own.ended, &parcel);
  Pack(own.stopped, &parcel);
  for (const StuckOp& op : own.stuck) {
    Pack(op.rank, &parcel);
    Pack(op.op, &parcel);
    Pack(op.waits_for, &parcel);
    Pack(op.ranks, &parcel);
  }
  RunState all;
  for (const std::string& each : processes->GatherAll(parcel)) {
    Unpacker unpacker(each);
    all.ended += unpacker.Take<int64_t>();
    all.stopped |= unpacker.Take<bool>();
    while (!unpacker.empty()) {
      StuckOp& op = all.stuck.emplace_back();
      unpacker.Take(&op.rank);
      unpacker.Take(&op.op);
      unpacker.Take(&op.waits_for);
      unpacker.Take(&op.ranks);
    }
  }
  std::stable_sort(all.stuck.begin(), all.stuck.end(),
                   [](const StuckOp& a, const StuckOp& b) { return a.rank < b.rank; });
  return all;
}

CommunicationCounters GatherCounters(const CommunicationCounters& own, Processes* processes) {
  std::string parcel;
  Pack(own, &parcel);
  CommunicationCounters sum;
  for (const std::string& part : processes->GatherAll(parcel)) {
    sum += Unpacker(part).Take<CommunicationCounters>();
  }
  return sum;
}

void GatherRanks(const std::vector<int>& own, Processes* processes,
                 std::vector<RankTimeline>* ranks) {
  if (processes->count() == 1) return;
  std::string parcel;
  if (!processes->first()) {
    for (const int rank : own) {
      const RankTimeline timeline = std::move((*ranks)[static_cast<size_t>(rank)]);
      Pack(rank, &parcel);
      Pack(timeline.start.get(), &parcel);
      Pack(timeline.ready.get(), &parcel);
      Pack(timeline.end.get(), &parcel);
    }
  }
  for (const std::string& each : processes->GatherAtFirst(std::move(parcel))) {
    Unpacker unpacker(each);
    while (!unpacker.empty()) {
      RankTimeline& timeline = (*ranks)[static_cast<size_t>(unpacker.Take<int>())];
      unpacker.Take(&timeline.start.own());
      unpacker.Take(&timeline.ready.own());
      unpacker.Take(&timeline.end.own());
    }
  }
}

}  // namespace drydock
