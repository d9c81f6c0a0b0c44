// Builds recordings for tests entry by entry.
#ifndef DRYDOCK_SIMCCL_TESTING_RECORD_TESTING_H_
#define DRYDOCK_SIMCCL_TESTING_RECORD_TESTING_H_

#include <cstdint>
#include <vector>

#include "simccl/record/log/recording.h"

namespace drydock::testing {

// ncclDataType_t and ncclRedOp_t.
enum : uint8_t { kNcclFloat16 = 6, kNcclFloat32 = 7, kNcclFloat64 = 8 };
enum : uint8_t { kNcclMax = 2 };

// A recording of one communicator of `ranks` ranks. Ranks and members have the same numbers.
class RecordingBuilder {
 public:
  explicit RecordingBuilder(int ranks) {
    recording.ranks.resize(static_cast<size_t>(ranks));
    recording.communicators.emplace_back();
    for (int rank = 0; rank < ranks; ++rank) recording.communicators[0].ranks.push_back(rank);
  }

  // Stream 0 is the default stream; even streams wait for it (SetStream in core/nccl/recording.h).
  RecordEntry& Call(int rank, RecordFunction function, uint64_t count, uint64_t stream,
                    int peer = 0) {
    if (!in_group_) ++group_;
    RecordEntry entry;
    entry.function = function;
    entry.type = kNcclFloat32;
    entry.rank = rank;
    entry.peer = peer;
    entry.count = count;
    entry.group = group_;
    SetStream(stream, &entry);
    return Add(rank, entry);
  }
  RecordEntry& Mark(int rank, RecordKind kind, uint64_t stream, uint64_t event = 0) {
    RecordEntry entry;
    entry.kind = kind;
    entry.event = event;
    SetStream(stream, &entry);
    return Add(rank, entry);
  }
  void StartGroup() {
    in_group_ = true;
    ++group_;
  }
  void EndGroup() { in_group_ = false; }

  Recording recording;

 private:
  RecordEntry& Add(int rank, const RecordEntry& entry) {
    recording.ranks[static_cast<size_t>(rank)].entries.push_back(entry);
    return recording.ranks[static_cast<size_t>(rank)].entries.back();
  }
  uint64_t group_ = 0;
  bool in_group_ = false;
};

}  // namespace drydock::testing

#endif  // DRYDOCK_SIMCCL_TESTING_RECORD_TESTING_H_
