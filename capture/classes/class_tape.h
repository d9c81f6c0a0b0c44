// The tape of a rank in words that are the same for every rank of its class: communicators by what
// they are to the rank, peers of messages by their distance, streams and events in the order of
// their first use. Equal ranks have equal class tapes.
#ifndef DRYDOCK_CAPTURE_CLASSES_CLASS_TAPE_H_
#define DRYDOCK_CAPTURE_CLASSES_CLASS_TAPE_H_

#include <optional>
#include <string>
#include <vector>

#include "capture/classes/world_groups.h"
#include "capture/tape/rank_tape.h"
#include "core/base/result.h"

namespace drydock::capture {

// A communicator as a rank of the class sees it.
struct ClassRole {
  GroupKind kind;
  int size = 0;  // of the group
  // The members by their distance from the rank in the group, modulo its size; empty: the whole
  // group, in its order.
  std::vector<int> offsets;
  bool operator==(const ClassRole&) const = default;
};

// The lists of the tape, but:
// - `communicator` of a call is an index into `roles`, and `rank` is 0;
// - `peer` of a message is the distance of the other end among the members, modulo their number;
// - an exchange of equal messages with every member is one kAllToAll;
// - groups, communicators and start are empty.
//
// Sharded optimizers cut parameters anywhere, so that ranks have other numbers of tensors in a
// step. So the work in Phase::kOptimizer between calls may differ, by a little.
struct ClassTape : RankTape {
  std::vector<ClassRole> roles;   // in the order of their first call
  std::vector<RecordEntry> same;  // entries that ranks of a class share; events by `same` records
  std::vector<size_t> same_at;    // their indices in `entries`
  std::string key;                // equal for tapes that share them, whatever the host's times
  Bytes optimizer;                // moved by the work that may differ
  std::vector<int64_t> calls;     // by entry: which call of the log it is, from 0; -1: none
};

// By how much the bytes that ranks of a class move in a step of the optimizer may differ.
struct StepTolerance {
  // Of the larger. A step is a few percent of an iteration: a tenth of it is less than the models
  // of kernels are off.
  static constexpr double kShare = 0.1;
  // In any case. A GPU moves them in the time of a few launches.
  static constexpr Bytes kFew = Bytes(int64_t{32} << 20);
};

// Returns true if the tapes have the same key, and their steps differ too little to matter. Peaks
// of memory may differ: a thread of PyTorch decides when memory of messages is free.
bool AreAlike(const ClassTape& a, const ClassTape& b);

// Returns what the GPU does; the host's time differs from run to run.
std::string FactsOfWork(Submodule submodule);

// REQUIRES: `groups` has the groups of the tape. Errors: a call names no communicator of the tape.
Result<ClassTape> MakeClassTape(const RankTape& tape, const WorldGroups& groups);

// What a class tape shows of the importance of places in groups.
struct PlacesThatMatter {
  std::vector<GroupKind> positions;              // a rank does what its position says: pipelines
  std::vector<std::pair<GroupKind, int>> roots;  // the position of a root, which may do more
};
PlacesThatMatter FindPlaces(const ClassTape& tape);

// Returns the first difference of two tapes that matters: "entry 12 of the iteration (backward):
// rank 0 has ..., rank 3 has ...". Empty if there is none. `*a_entry` and `*b_entry`, if not null,
// receive the indices of the entries, or the ends of the tapes.
std::optional<std::string> FirstDifference(const ClassTape& a, const std::string& a_name,
                                           const ClassTape& b, const std::string& b_name,
                                           size_t* a_entry = nullptr, size_t* b_entry = nullptr);

// Returns "all-reduce of 100 float32 (sum) on tp", "wait for an event", ...
std::string DescribeEntry(const ClassTape& tape, size_t entry);

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_CLASSES_CLASS_TAPE_H_
