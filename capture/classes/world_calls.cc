#include "capture/classes/world_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "capture/classes/role_names.h"
#include "simccl/record/log/match.h"

namespace drydock::capture {
namespace {

// Pickled objects of absent ranks, as far as a capture keeps them, may be longer or shorter than
// this rank's.
constexpr int64_t kObjectBytes = 64 << 10;

// Roles that carry messages.
std::vector<bool> FindMessages(const ClassTape& tape) {
  std::vector<bool> messages(tape.roles.size());
  for (const RecordEntry& entry : tape.entries) {
    if (entry.kind == RecordKind::kCall && IsMessage(entry)) messages[entry.communicator] = true;
  }
  return messages;
}

}  // namespace

Result<WorldCalls> WorldCalls::Make(const WorldGroups& groups,
                                    const std::vector<WorldClass>& classes) {
  WorldCalls calls(groups, classes);
  RETURN_IF_ERROR(calls.FindPrograms());
  RETURN_IF_ERROR(calls.FindCommunicators());
  calls.MakeRecording();
  return calls;
}

Status WorldCalls::FindPrograms() {
  for (size_t c = 0; c < classes_.size(); ++c) {
    const ClassTape& tape = *classes_[c].tape;
    has_messages_.push_back(FindMessages(tape));
    std::map<std::vector<int>, size_t> known;  // by the positions at the ends of messages
    for (const int rank : classes_[c].ranks) {
      std::vector<int> positions;
      for (size_t role = 0; role < tape.roles.size(); ++role) {
        const Membership* own = groups_.Find(rank, tape.roles[role].kind);
        if (own == nullptr) {
          return Error(fmt::format("rank {} is in no group '{}', but runs the program of rank {}",
                                   rank, tape.roles[role].kind.description, tape.rank));
        }
        positions.push_back(has_messages_[c][role] ? own->position : -1);
      }
      const auto [program, added] = known.emplace(positions, programs_.size());
      if (added) programs_.push_back({c, {}, {}});
      programs_[program->second].ranks.push_back(rank);
    }
  }
  return OkStatus();
}

Status WorldCalls::FindCommunicators() {
  std::map<std::pair<int, std::vector<int>>, int> known;  // by group and positions in it
  for (size_t p = 0; p < programs_.size(); ++p) {
    WorldProgram& program = programs_[p];
    const ClassTape& tape = TapeOf(p);
    for (size_t r = 0; r < tape.roles.size(); ++r) {
      const ClassRole& role = tape.roles[r];
      std::vector<int>& of_rank = program.group_of_rank.emplace_back();
      for (const int rank : program.ranks) {
        const Membership& own = *groups_.Find(rank, role.kind);
        const std::vector<int>& all = groups_.groups()[static_cast<size_t>(own.group)].ranks;
        const auto size = static_cast<int>(all.size());
        std::vector<int> positions;
        for (const int offset : role.offsets) positions.push_back((own.position + offset) % size);
        const auto index = static_cast<int>(members_.size());
        const auto [found, added] = known.emplace(std::pair(own.group, positions), index);
        if (added) {
          std::vector<int> ranks;
          for (const int position : positions) ranks.push_back(all[static_cast<size_t>(position)]);
          members_.push_back(role.offsets.empty() ? all : std::move(ranks));
          users_.emplace_back(members_.back().size());
        }
        of_rank.push_back(found->second);
        const auto self = std::find(role.offsets.begin(), role.offsets.end(), 0);
        const size_t member = role.offsets.empty()
                                  ? static_cast<size_t>(own.position)
                                  : static_cast<size_t>(self - role.offsets.begin());
        std::vector<User>& users = users_[static_cast<size_t>(found->second)];
        if (member >= users.size()) {
          return Error(fmt::format("rank {} calls on a communicator without it", rank));
        }
        users[member] = {static_cast<int>(p), static_cast<int>(r)};
      }
    }
  }
  return OkStatus();
}

void WorldCalls::MakeRecording() {
  std::set<std::pair<size_t, std::vector<User>>> known;  // size and users
  for (size_t c = 0; c < users_.size(); ++c) {
    const std::vector<User>& users = users_[c];
    const bool messages = std::any_of(users.begin(), users.end(), [&](const User& user) {
      if (user.program < 0) return false;
      const size_t of_class = programs_[static_cast<size_t>(user.program)].of_class;
      return static_cast<bool>(has_messages_[of_class][static_cast<size_t>(user.role)]);
    });
    // Of members that make the same collectives, the first stands for all.
    std::vector<size_t> members;
    std::vector<User> distinct;
    std::set<User> seen;
    for (size_t member = 0; member < users.size(); ++member) {
      if (!seen.insert(users[member]).second && !messages) continue;
      members.push_back(member);
      distinct.push_back(users[member]);
    }
    if (known.emplace(users.size(), std::move(distinct)).second) AddRecorded(c, members);
  }
}

// Adds the calls of these members to the recording.
void WorldCalls::AddRecorded(size_t communicator, const std::vector<size_t>& members) {
  const uint64_t index = recording_.communicators.size();
  const std::vector<int>& ranks = members_[communicator];
  const auto size = static_cast<int32_t>(ranks.size());
  const bool whole = members.size() == ranks.size();
  RecordedCommunicator& recorded = recording_.communicators.emplace_back();
  recorded.all = whole ? 0 : size;
  for (size_t i = 0; i < members.size(); ++i) {
    const size_t member = members[i];
    recorded.ranks.push_back(ranks[member]);
    const User& user = users_[communicator][member];
    RecordedRank& rank = recording_.ranks.emplace_back();
    recorded_.emplace_back(user.program, user.role);
    if (user.program < 0) continue;
    const ClassTape& tape = TapeOf(static_cast<size_t>(user.program));
    for (size_t at = 0; at < tape.entries.size(); ++at) {
      RecordEntry entry = tape.entries[at];
      if (entry.kind != RecordKind::kCall ||
          entry.communicator != static_cast<uint64_t>(user.role)) {
        continue;
      }
      if (IsMessage(entry)) entry.peer = (static_cast<int32_t>(member) + entry.peer) % size;
      entry.rank = static_cast<int32_t>(i);
      entry.communicator = index;
      entry.event = at;  // for Match
      rank.entries.push_back(entry);
    }
    calls_.emplace(user, recording_.ranks.size() - 1);
  }
}

Status WorldCalls::Match(const LineOfCall& line) {
  // Ranks of the recording are not those of the world: a call knows its entry, and its member the
  // program.
  std::map<std::pair<uint64_t, int32_t>, size_t> by_member;  // of a communicator
  for (size_t rank = 0; rank < recording_.ranks.size(); ++rank) {
    const std::vector<RecordEntry>& entries = recording_.ranks[rank].entries;
    if (entries.empty()) continue;
    by_member[{entries.front().communicator, entries.front().rank}] = rank;
  }
  const auto place = [&](int /*rank*/, const RecordEntry& call) -> std::string {
    const auto found = by_member.find({call.communicator, call.rank});
    if (found == by_member.end()) return "";
    const auto [program, role] = recorded_[found->second];
    const ClassTape& tape = TapeOf(static_cast<size_t>(program));
    const TapePlace& in = tape.places[call.event];
    std::string text = PhaseNames()[static_cast<size_t>(in.phase)];
    if (in.layer >= 0) text += fmt::format(" of layer {}", in.layer);
    text += fmt::format(" on {}", RoleOf(tape.roles[static_cast<size_t>(role)]).name);
    if (line) text += line(tape, call.event);
    return text;
  };
  return MatchCalls(&recording_, place, kObjectBytes);
}

RecordedRank WorldCalls::EntriesOf(size_t program) const {
  const ClassTape& tape = TapeOf(program);
  RecordedRank rank;
  rank.entries = tape.entries;
  std::vector<size_t> next(tape.roles.size());  // call of each role
  for (RecordEntry& entry : rank.entries) {
    if (entry.kind != RecordKind::kCall) continue;
    const auto role = static_cast<size_t>(entry.communicator);
    const size_t from = calls_.at({static_cast<int>(program), static_cast<int>(role)});
    entry = recording_.ranks[from].entries[next[role]++];
    entry.event = 0;
  }
  return rank;
}

}  // namespace drydock::capture
