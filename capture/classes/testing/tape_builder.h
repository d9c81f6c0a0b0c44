// Tapes written by hand, for tests.
#ifndef DRYDOCK_CAPTURE_CLASSES_TESTING_TAPE_BUILDER_H_
#define DRYDOCK_CAPTURE_CLASSES_TESTING_TAPE_BUILDER_H_

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "capture/tape/rank_tape.h"

namespace drydock::capture::testing {

inline constexpr uint8_t kFloat32 = 7;  // ncclDataType_t

class TapeBuilder {
 public:
  TapeBuilder(int rank, int world) {
    tape.rank = rank;
    tape.world = world;
  }

  // Adds a group of the world; returns its number.
  int Group(const std::string& description, std::vector<int> ranks) {
    tape.groups.push_back({std::to_string(tape.groups.size()), description, std::move(ranks)});
    return static_cast<int>(tape.groups.size()) - 1;
  }
  // Adds groups of every rank of a grid: `size` ranks that are `stride` apart. Returns the number
  // of the one with this rank.
  int Grid(const std::string& description, int size, int stride) {
    int own = -1;
    for (int first = 0; first < tape.world; ++first) {
      if (first / stride % size != 0) continue;
      std::vector<int> ranks;
      for (int i = 0; i < size; ++i) ranks.push_back(first + i * stride);
      const bool is_own = std::find(ranks.begin(), ranks.end(), tape.rank) != ranks.end();
      const int group = Group(description, std::move(ranks));
      if (is_own) own = group;
    }
    return own;
  }
  // A communicator of a whole group, or of these positions; returns its number.
  uint64_t Communicator(int group, std::vector<int> members = {}) {
    const auto size = tape.groups[static_cast<size_t>(group)].ranks.size();
    for (size_t i = 0; members.size() < size && members.size() == i; ++i) {
      members.push_back(static_cast<int>(i));
    }
    tape.communicators.push_back({group, std::move(members), {}});
    return tape.communicators.size() - 1;
  }

  RecordEntry& Call(RecordFunction function, uint64_t communicator, uint64_t count, int peer = 0,
                    uint64_t stream = 1) {
    const TapeCommunicator& on = tape.communicators[communicator];
    const auto& ranks = tape.groups[static_cast<size_t>(on.group)].ranks;
    const auto position = std::find(ranks.begin(), ranks.end(), tape.rank) - ranks.begin();
    RecordEntry entry;
    entry.kind = RecordKind::kCall;
    entry.function = function;
    entry.type = kFloat32;
    entry.communicator = communicator;
    entry.count = count;
    entry.peer = peer;
    entry.rank = static_cast<int32_t>(std::find(on.members.begin(), on.members.end(), position) -
                                      on.members.begin());
    entry.stream = stream;
    entry.group = in_group_ ? groups_ : ++groups_;
    return Add(entry);
  }
  void BeginGroup() {
    ++groups_;
    in_group_ = true;
  }
  void EndGroup() { in_group_ = false; }

  RecordEntry& Work(const std::string& name, double flops, uint64_t stream = 0) {
    Submodule submodule;
    submodule.name = name;
    submodule.work = submodule::Linear{};
    submodule.flops = flops;
    tape.submodules.push_back(std::move(submodule));
    tape.blocks.push_back({name, {static_cast<uint32_t>(tape.submodules.size() - 1)}});
    RecordEntry entry;
    entry.kind = RecordKind::kWork;
    entry.count = tape.blocks.size() - 1;
    entry.stream = stream;
    return Add(entry);
  }
  RecordEntry& Order(RecordKind kind, uint64_t stream, uint64_t event) {
    RecordEntry entry;
    entry.kind = kind;
    entry.stream = stream;
    entry.event = event;
    return Add(entry);
  }
  RecordEntry& Add(const RecordEntry& entry) {
    tape.entries.push_back(entry);
    tape.places.push_back(place);
    return tape.entries.back();
  }

  RankTape tape;
  TapePlace place;  // of the next entries

 private:
  uint64_t groups_ = 0;
  bool in_group_ = false;
};

}  // namespace drydock::capture::testing

#endif  // DRYDOCK_CAPTURE_CLASSES_TESTING_TAPE_BUILDER_H_
