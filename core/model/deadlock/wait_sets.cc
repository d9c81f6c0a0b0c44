#include "core/model/deadlock/wait_sets.h"

#include <algorithm>

#include "core/model/calls/reductions.h"
#include "core/model/calls/slices.h"
#include "core/model/calls/step_cursor.h"

namespace drydock {
namespace {

using Graph = std::vector<std::vector<int>>;  // by member: other members

// Returns the number of slices of each connection.
std::vector<int64_t> CountSlices(const Plan& plan) {
  std::vector<int64_t> slices(plan.connections.size(), 0);
  for (const std::vector<ChannelProgram>& programs : plan.members) {
    for (const ChannelProgram& program : programs) {
      const Work& work = plan.works[program.work];
      ForEachSize(plan.patterns[program.pattern], program.position,
                  [&](const Step& step, int64_t bytes, int64_t times) {
                    const int64_t parts = SlotsOfChunk(work, bytes);
                    for (uint32_t i = 0; i < step.send.count; ++i) {
                      const uint32_t at = program.operand_begin + step.send.begin + i;
                      slices[plan.operands[at]] += parts * times;
                    }
                  });
    }
  }
  return slices;
}

// Returns the work of each connection.
std::vector<uint16_t> WorksOf(const Plan& plan) {
  std::vector<uint16_t> works(plan.connections.size(), 0);
  for (const std::vector<ChannelProgram>& programs : plan.members) {
    for (const ChannelProgram& program : programs) {
      const uint32_t operands = plan.patterns[program.pattern].operands;
      for (uint32_t i = 0; i < operands; ++i) {
        works[plan.operands[program.operand_begin + i]] = program.work;
      }
    }
  }
  return works;
}

// A sum arrives after all members have sent their part or signaled free room, so each member waits
// for all others. Edges to and from the first member are enough, because waits are transitive.
void WaitForSums(const PlanReduction& reduction, Graph* graph) {
  if (reduction.ends.empty()) return;
  const int first = reduction.ends.front().member;
  for (const ReductionEnd& end : reduction.ends) {
    if (end.member == first) continue;
    (*graph)[end.member].push_back(first);
    (*graph)[static_cast<size_t>(first)].push_back(end.member);
  }
}

// Returns all members reachable from `start`, sorted, without `start`.
std::vector<int> Reach(const Graph& graph, int start) {
  std::vector<bool> seen(graph.size(), false);
  std::vector<int> reached, open = {start};
  seen[static_cast<size_t>(start)] = true;
  while (!open.empty()) {
    const int at = open.back();
    open.pop_back();
    for (const int next : graph[static_cast<size_t>(at)]) {
      if (seen[static_cast<size_t>(next)]) continue;
      seen[static_cast<size_t>(next)] = true;
      open.push_back(next);
      reached.push_back(next);
    }
  }
  std::sort(reached.begin(), reached.end());
  return reached;
}

Graph Reversed(const Graph& graph) {
  Graph reversed(graph.size());
  for (size_t from = 0; from < graph.size(); ++from) {
    for (const int to : graph[from]) {
      reversed[static_cast<size_t>(to)].push_back(static_cast<int>(from));
    }
  }
  return reversed;
}

}  // namespace

WaitSets WaitSetsOf(const Plan& plan) {
  const size_t members = plan.members.size();
  const std::vector<int64_t> slices = CountSlices(plan);
  const std::vector<uint16_t> works = WorksOf(plan);
  WaitSets sets;
  Graph graph(members);
  for (size_t c = 0; c < plan.connections.size(); ++c) {
    const Connection& connection = plan.connections[c];
    if (slices[c] == 0 || connection.from == connection.to) continue;
    const int64_t slots = plan.works[works[c]].slots;
    graph[connection.to].push_back(connection.from);
    if (slices[c] > slots) graph[connection.from].push_back(connection.to);
    if (slices[c] <= sets.slices) continue;
    sets.slices = slices[c];
    sets.slots = slots;
  }
  for (const PlanReduction& reduction : ReductionsOf(plan)) WaitForSums(reduction, &graph);
  for (std::vector<int>& others : graph) {
    std::sort(others.begin(), others.end());
    others.erase(std::unique(others.begin(), others.end()), others.end());
  }
  sets.all_members =
      Reach(graph, 0).size() + 1 == members && Reach(Reversed(graph), 0).size() + 1 == members;
  if (sets.all_members) return sets;
  for (size_t m = 0; m < members; ++m) sets.members.push_back(Reach(graph, static_cast<int>(m)));
  return sets;
}

}  // namespace drydock
