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
struct ClassTape : RankTape {
  std::vector<ClassRole> roles;  // in the order of their first call
  std::string key;               // equal for equal tapes, whatever the host's times
};

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

// Returns the first difference of two tapes: "call 12 of the iteration is ..., but ... of rank 3".
// Empty if they are equal. `a_name` and `b_name` are "rank 0" and "rank 3". `*entry`, if not null,
// receives the index of the entry that differs, or the end of the shorter tape.
std::optional<std::string> FirstDifference(const ClassTape& a, const std::string& a_name,
                                           const ClassTape& b, const std::string& b_name,
                                           size_t* entry = nullptr);

// Returns "all-reduce of 100 float32 (sum) on tp", "wait for an event", ...
std::string DescribeEntry(const ClassTape& tape, size_t entry);

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_CLASSES_CLASS_TAPE_H_
