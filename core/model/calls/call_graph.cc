#include "core/model/calls/call_graph.h"

#include <fmt/format.h>

#include "core/model/calls/call_numbers.h"

namespace drydock {
namespace {

ClassProgram IndexProgram(const Program& program, size_t streams) {
  ClassProgram index;
  index.program = &program;
  const size_t ops = program.ops.size();
  index.previous.assign(ops, kNone);
  index.open.assign(ops, 0);
  index.follower_begin.assign(ops + 1, 0);
  std::vector<uint32_t> last(streams, kNone);
  for (uint32_t op = 0; op < ops; ++op) {
    uint32_t& before = last[program.ops[op].stream];
    index.previous[op] = before;
    before = op;
  }
  const auto for_each = [&](const auto& visit) {
    for (uint32_t op = 0; op < ops; ++op) {
      for (const uint32_t dependency : program.dependencies(op)) visit(dependency, op);
      if (index.previous[op] != kNone) visit(index.previous[op], op);
    }
  };
  for_each([&](uint32_t before, uint32_t op) {
    ++index.follower_begin[before + 1];
    ++index.open[op];
  });
  for (size_t op = 0; op < ops; ++op) index.follower_begin[op + 1] += index.follower_begin[op];
  index.follower.resize(index.follower_begin[ops]);
  std::vector<uint32_t> fill(index.follower_begin.begin(), index.follower_begin.end() - 1);
  for_each([&](uint32_t before, uint32_t op) { index.follower[fill[before]++] = op; });
  return index;
}

}  // namespace

Result<std::vector<ClassProgram>> MakeClassPrograms(const Workload& workload,
                                                    const RankClasses& classes) {
  const std::vector<MessageName> names = SortedNames(workload);
  std::vector<ClassProgram> out;
  for (const int rank : classes.first_rank) {
    const auto program_index =
        static_cast<size_t>(workload.class_of_rank[static_cast<size_t>(rank)]);
    ClassProgram index = IndexProgram(workload.programs[program_index], workload.streams.size());
    CallCounter counter(names);
    for (size_t i = 0; i < index.program->ops.size(); ++i) {
      const Op& op = index.program->ops[i];
      index.number.push_back(0);
      if (!IsCommunication(op.kind)) continue;
      const int group = workload.group_of_rank[op.role][static_cast<size_t>(rank)];
      const auto fail = [&](const char* why) {
        return Error(fmt::format("op {} of rank {} (role '{}'): {}", i, rank,
                                 workload.roles[op.role].name, why));
      };
      if (group < 0) return fail("the rank is in no group of that role");
      index.number.back() = counter.Next(group, op, workload.calls[op.work]);
    }
    out.push_back(std::move(index));
  }
  return out;
}

}  // namespace drydock
