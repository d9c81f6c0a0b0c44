// The calls of the whole world, as a Recording whose calls can be matched: one communicator stands
// for all that have the same users.
#ifndef DRYDOCK_CAPTURE_CLASSES_WORLD_CALLS_H_
#define DRYDOCK_CAPTURE_CLASSES_WORLD_CALLS_H_

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "capture/classes/class_tape.h"
#include "capture/classes/world_workload.h"
#include "core/base/result.h"
#include "simccl/record/log/recording.h"

namespace drydock::capture {

// Ranks of a class whose programs name the same members: ends of messages have their own positions.
struct WorldProgram {
  size_t of_class = 0;
  std::vector<int> ranks;
  std::vector<std::vector<int>> group_of_rank;  // [role of the tape][rank of `ranks`]
};

class WorldCalls {
 public:
  // `classes` and `groups` must outlive this object.
  static Result<WorldCalls> Make(const WorldGroups& groups, const std::vector<WorldClass>& classes);

  const std::vector<WorldProgram>& programs() const { return programs_; }
  // The communicators of the world, by WorldProgram::group_of_rank: their members.
  const std::vector<std::vector<int>>& groups() const { return members_; }

  // Matches all calls. Members then agree on types and sizes.
  Status Match(const LineOfCall& line);
  const Recording& recording() const { return recording_; }
  // The entries of a program, with calls on communicators of recording().
  RecordedRank EntriesOf(size_t program) const;

 private:
  // The role in which a program uses a communicator.
  struct User {
    int program = -1, role = -1;  // -1: a member that never uses it
    auto operator<=>(const User&) const = default;
  };

  WorldCalls(const WorldGroups& groups, const std::vector<WorldClass>& classes)
      : groups_(groups), classes_(classes) {}
  const ClassTape& TapeOf(size_t program) const {
    return *classes_[programs_[program].of_class].tape;
  }
  Status FindPrograms();
  Status FindCommunicators();
  void MakeRecording();
  void AddRecorded(size_t communicator, const std::vector<size_t>& members);

  const WorldGroups& groups_;
  const std::vector<WorldClass>& classes_;
  std::vector<WorldProgram> programs_;
  std::vector<std::vector<bool>> has_messages_;  // [class][role]
  std::vector<std::vector<int>> members_;        // by communicator: ranks
  std::vector<std::vector<User>> users_;         // [communicator][member]
  Recording recording_;
  std::vector<std::pair<int, int>> recorded_;  // by rank of the recording: its program and role
  std::map<User, size_t> calls_;               // the rank of the recording with its calls
};

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_CLASSES_WORLD_CALLS_H_
