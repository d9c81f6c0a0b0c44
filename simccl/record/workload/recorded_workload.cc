#include "simccl/record/workload/recorded_workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "simccl/record/workload/program.h"

namespace drydock {
namespace {

// Returns a key that is equal for equal programs. A role of ranks that share a program may mean
// different communicators.
std::vector<int64_t> KeyOf(const Program& program) {
  std::vector<int64_t> key;
  for (size_t i = 0; i < program.ops.size(); ++i) {
    const Op& op = program.ops[i];
    key.insert(key.end(), {static_cast<int64_t>(op.kind), op.stream, op.role, op.work});
    for (const uint32_t dependency : program.dependencies(i))
      key.push_back(-1 - int64_t{dependency});
  }
  return key;
}

void SetGroups(const std::vector<RecordProgram>& programs, Workload* workload) {
  size_t roles = 0;
  for (const RecordProgram& program : programs)
    roles = std::max(roles, program.communicator_of_role.size());
  workload->group_of_rank.assign(roles, std::vector<int>(programs.size(), -1));
  for (size_t rank = 0; rank < programs.size(); ++rank) {
    const std::vector<uint64_t>& communicators = programs[rank].communicator_of_role;
    for (size_t role = 0; role < communicators.size(); ++role) {
      workload->group_of_rank[role][rank] = static_cast<int>(communicators[role]);
    }
  }
  for (size_t role = 0; role < roles; ++role) {
    workload->roles.push_back({fmt::format("comm{}", role), Dimension::kWorld});
  }
}

void SetClasses(std::vector<RecordProgram>* programs, Workload* workload) {
  std::map<std::vector<int64_t>, int> classes;
  for (RecordProgram& made : *programs) {
    const auto next = static_cast<int>(classes.size());
    const auto [known, added] = classes.emplace(KeyOf(made.program), next);
    workload->class_of_rank.push_back(known->second);
    if (added) workload->programs.push_back(std::move(made.program));
  }
  workload->class_count = static_cast<int>(workload->programs.size());
}

void SetUses(Workload* workload) {
  std::set<Workload::Use> uses;
  for (size_t rank = 0; rank < workload->class_of_rank.size(); ++rank) {
    const auto of_rank = static_cast<size_t>(workload->class_of_rank[rank]);
    for (const Op& op : workload->programs[of_rank].ops) {
      uses.insert({op.work, static_cast<uint32_t>(workload->group_of_rank[op.role][rank])});
    }
  }
  workload->uses.assign(uses.begin(), uses.end());
}

}  // namespace

Result<Workload> MakeRecordedWorkload(const Recording& recording, const Topology& topology,
                                      const std::string& name) {
  RecordTables tables;
  tables.launches = RecordLaunches(recording);
  std::vector<RecordProgram> programs;
  size_t active = 0;
  for (size_t rank = 0; rank < recording.ranks.size(); ++rank) {
    Result<RecordProgram> made = MakeRecordProgram(recording, recording.ranks[rank], &tables);
    if (!made.ok()) return Error(fmt::format("rank {}: {}", rank, made.error().message()));
    active += made->program.ops.empty() ? 0 : 1;
    programs.push_back(std::move(made).value());
  }
  if (active == 0) return Error("the program made no NCCL call that moves data");
  Workload workload;
  workload.topology = topology;
  workload.calls = std::move(tables.calls);
  workload.streams = RecordStreamNames(tables.streams);
  for (const RecordedCommunicator& communicator : recording.communicators) {
    workload.groups.push_back({communicator.ranks});
  }
  SetGroups(programs, &workload);
  SetClasses(&programs, &workload);
  SetUses(&workload);
  workload.totals.model_name = name;
  workload.totals.layout = fmt::format("recorded, {} ranks", active);
  return workload;
}

}  // namespace drydock
