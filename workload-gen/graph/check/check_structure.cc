// Checks the programs, and each rank by itself.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "core/model/calls/grouped_call.h"
#include "core/model/calls/rank_list.h"
#include "core/schema/artefacts/trace_file.h"
#include "workload-gen/graph/check/check_steps.h"

namespace drydock {
namespace {

// Returns which index of the op is out of range, or "".
std::string OutsideTables(const Workload& w, const Op& op) {
  const auto beyond = [](const char* what, size_t index, size_t size) {
    return fmt::format("names {0} {1}, but the number of {0}s is {2}", what, index, size);
  };
  if (op.stream >= w.streams.size()) return beyond("stream", op.stream, w.streams.size());
  if (op.kind == OpKind::kCompute) {
    return op.work < w.blocks.size() ? "" : beyond("block", op.work, w.blocks.size());
  }
  if (UsesMemory(op.kind)) {
    if (op.work >= w.transfers.size()) return beyond("transfer", op.work, w.transfers.size());
    const bool elsewhere = w.transfers[op.work].tier != MemoryTier::kHost;
    return op.kind == OpKind::kHostWork && elsewhere
               ? "is host work on memory that is not the host's"
               : "";
  }
  if (op.work >= w.calls.size()) return beyond("call", op.work, w.calls.size());
  if (op.role >= w.roles.size()) return beyond("role", op.role, w.roles.size());
  const bool to_one = w.calls[op.work].collective == CollectiveType::kSendRecv;
  if (to_one == (op.kind != OpKind::kCollective)) return "";
  return to_one
             ? "is a collective, but its call is a message"
             : fmt::format("is a message, but its call is of kind {}", KindText(w.calls[op.work]));
}

void CheckProgram(const Workload& w, size_t index, int rank, Violations* out) {
  const Program& program = w.programs[index];
  if (program.dependency_begin.size() != program.ops.size() + 1 ||
      program.dependency_begin.back() != program.dependency.size() ||
      !std::is_sorted(program.dependency_begin.begin(), program.dependency_begin.end())) {
    out->Add(fmt::format("rank {} (class {}): its table of dependencies does not fit its {} ops",
                         rank, index, program.ops.size()));
    return;
  }
  for (uint32_t i = 0; i < program.ops.size(); ++i) {
    if (const std::string wrong = OutsideTables(w, program.ops[i]); !wrong.empty()) {
      out->Add(fmt::format("rank {}, op {} (class {}) {}", rank, i, index, wrong));
      continue;
    }
    for (const uint32_t dependency : program.dependencies(i)) {
      if (dependency < i) continue;
      out->Add(fmt::format("{} waits for op {}{}", OpPlace(w, rank, i), dependency,
                           dependency == i ? ", itself"
                           : dependency < program.ops.size()
                               ? ", which comes after it: a cycle with the order of ops"
                               : fmt::format(", but the number of ops is {}", program.ops.size())));
    }
  }
}

// Names the ranks with the same violation after the first of them.
std::string Others(size_t ranks) {
  return ranks > 1 ? fmt::format(" (and {} more ranks)", ranks - 1) : "";
}

// The distinct (role, call, kind) of a program's communication, each with its first op.
using Uses = std::map<std::tuple<uint8_t, uint32_t, OpKind>, uint32_t>;
std::vector<Uses> UsesOfPrograms(const Workload& w) {
  std::vector<Uses> all;
  for (const Program& program : w.programs) {
    Uses& uses = all.emplace_back();
    for (uint32_t i = 0; i < program.ops.size(); ++i) {
      const Op& op = program.ops[i];
      if (IsCommunication(op.kind)) uses.try_emplace({op.role, op.work, op.kind}, i);
    }
  }
  return all;
}

// [role][rank]: the rank's position in its group, or -1 if it has no group.
std::vector<std::vector<int>> PositionsOf(const Workload& w) {
  std::vector<std::vector<int>> positions;
  for (const std::vector<int>& group_of_rank : w.group_of_rank) {
    std::vector<int>& of_rank = positions.emplace_back(group_of_rank.size(), -1);
    std::set<int> groups(group_of_rank.begin(), group_of_rank.end());
    groups.erase(-1);
    for (const int g : groups) {
      const std::vector<int>& ranks = w.groups[static_cast<size_t>(g)].ranks;
      for (size_t m = 0; m < ranks.size(); ++m) {
        const auto rank = static_cast<size_t>(ranks[m]);
        if (group_of_rank[rank] == g) of_rank[rank] = static_cast<int>(m);
      }
    }
  }
  return positions;
}

// Returns why member `position` of the group cannot make a call of this kind, or "".
std::string WrongMember(const CommCall& call, OpKind kind, int position) {
  if (kind == OpKind::kCollective) {
    return TakesPart(call, position)
               ? ""
               : fmt::format("it is member {} of the group, which has no part in that call",
                             position);
  }
  if (call.root == call.peer) return fmt::format("member {} sends to itself", call.root);
  const bool sends = kind == OpKind::kSend;
  if (position == (sends ? call.root : call.peer)) return "";
  return fmt::format("it {} as member {} of the group and is member {}",
                     sends ? "sends" : "receives", sends ? call.root : call.peer, position);
}

std::string WrongGroup(const Workload& w, const CommCall& call, OpKind kind, int group,
                       int position) {
  if (group < 0) return "it is in no group of that role";
  const std::vector<int>& ranks = w.groups[static_cast<size_t>(group)].ranks;
  if (ranks.size() != static_cast<size_t>(call.group_size)) {
    return fmt::format("the call is for a group of {}, its group {} has {} (ranks {})",
                       call.group_size, group, ranks.size(), RanksText(ranks));
  }
  if (position < 0) {
    return fmt::format("it is not a member of its group {} (ranks {})", group, RanksText(ranks));
  }
  return WrongMember(call, kind, position);
}

}  // namespace

void CheckStructure(const Workload& w, Violations* out) {
  std::vector<int> first_rank(w.programs.size(), -1);
  for (int rank = w.rank_count() - 1; rank >= 0; --rank) {
    const int own = w.class_of_rank[static_cast<size_t>(rank)];
    if (own < 0 || static_cast<size_t>(own) >= w.programs.size()) {
      out->Add(fmt::format("rank {} is of class {}, but the number of classes is {}", rank, own,
                           w.programs.size()));
      continue;
    }
    first_rank[static_cast<size_t>(own)] = rank;
  }
  for (size_t c = 0; c < w.programs.size(); ++c) {
    if (first_rank[c] < 0 && !w.programs[c].ops.empty()) {
      out->Add(fmt::format("class {}: no rank runs it; none of its {} ops is ever reached", c,
                           w.programs[c].ops.size()));
    } else if (first_rank[c] >= 0) {
      CheckProgram(w, c, first_rank[c], out);
    }
  }
}

void CheckGroups(const Workload& w, Violations* out) {
  const std::vector<Uses> uses = UsesOfPrograms(w);
  const std::vector<std::vector<int>> positions = PositionsOf(w);
  struct First {
    int rank = 0;
    uint32_t op = 0;
    size_t ranks = 0;
  };
  std::map<std::tuple<int, uint32_t, std::string>, First> wrong;  // class, op, complaint
  for (int rank = 0; rank < w.rank_count(); ++rank) {
    const auto at = static_cast<size_t>(rank);
    const int own = w.class_of_rank[at];
    for (const auto& [key, op] : uses[static_cast<size_t>(own)]) {
      const auto [role, call, kind] = key;
      const std::string complaint =
          WrongGroup(w, w.calls[call], kind, w.group_of_rank[role][at], positions[role][at]);
      if (complaint.empty()) continue;
      First& first = wrong.try_emplace({own, op, complaint}, First{rank, op, 0}).first->second;
      ++first.ranks;
    }
  }
  for (const auto& [key, first] : wrong) {
    const auto& program = w.programs[static_cast<size_t>(std::get<0>(key))];
    out->Add(fmt::format("{} in role '{}': {}{}", OpPlace(w, first.rank, first.op),
                         w.roles[program.ops[first.op].role].name, std::get<2>(key),
                         Others(first.ranks)));
  }
}

void CheckUses(const Workload& w, Violations* out) {
  const std::vector<Uses> uses = UsesOfPrograms(w);
  std::map<Workload::Use, std::pair<int, uint32_t>> made;  // the first rank and op of each use
  for (int rank = 0; rank < w.rank_count(); ++rank) {
    const auto at = static_cast<size_t>(rank);
    for (const auto& [key, op] : uses[static_cast<size_t>(w.class_of_rank[at])]) {
      const auto group = static_cast<uint32_t>(w.group_of_rank[std::get<0>(key)][at]);
      made.try_emplace({std::get<1>(key), group}, rank, op);
    }
  }
  std::set<Workload::Use> listed(w.uses.begin(), w.uses.end());
  for (const auto& [use, by] : made) {
    if (listed.erase(use) > 0) continue;
    out->Add(
        fmt::format("{}: call {} in group {} is missing from the table of uses; simccl would "
                    "not plan it",
                    OpPlace(w, by.first, by.second), use.call, use.group));
  }
  for (const Workload::Use& use : listed) {
    out->Add(
        fmt::format("call {} in group {} is in the table of uses, but no op of any rank "
                    "makes it",
                    use.call, use.group));
  }
}

}  // namespace drydock
