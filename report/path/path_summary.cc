#include "report/path/path_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "core/schema/artefacts/trace_file.h"
#include "report/path/plan_links.h"

namespace drydock {
namespace {

// The links of transfers, computed once for each call, group and member.
class LinkNames {
 public:
  explicit LinkNames(const Inputs& inputs) : inputs_(inputs), links_(inputs.workload) {}

  const std::vector<std::string>& Of(const PathStep& step) {
    const Op& op = inputs_.program_of(step.rank).ops[step.op];
    const int group = inputs_.group_of(step.rank, op);
    std::vector<std::string> none;
    const auto [found, added] =
        names_.try_emplace(std::tuple(op.work, group, step.rank), std::move(none));
    if (!added) return found->second;
    const Plan* plan = inputs_.plan_of(op.work, group);
    const std::vector<int>& ranks = inputs_.workload.groups[static_cast<size_t>(group)].ranks;
    const auto member = std::find(ranks.begin(), ranks.end(), step.rank) - ranks.begin();
    if (plan != nullptr && static_cast<size_t>(member) < plan->members.size()) {
      found->second = links_.NamesFor(*plan, group, static_cast<int>(member));
    }
    return found->second;
  }

 private:
  const Inputs& inputs_;
  PlanLinks links_;
  std::map<std::tuple<uint32_t, int, int>, std::vector<std::string>> names_;
};

// Returns the name that ops share if they differ only in layer and micro-batch: "attention.fwd",
// "tp all-reduce 100.7 MB".
std::string GroupName(const Workload& workload, const Op& op) {
  if (op.kind == OpKind::kCompute) return workload.blocks[op.work].name;
  if (UsesMemory(op.kind)) {
    return fmt::format("{} {}", OpKindName(op.kind), ToString(workload.transfers[op.work].bytes));
  }
  const CommCall& call = workload.calls[op.work];
  const char* what = op.kind == OpKind::kSend   ? "send"
                     : op.kind == OpKind::kRecv ? "receive"
                                                : nullptr;
  return fmt::format(
      "{} {} {}", workload.roles[op.role].name,
      what != nullptr ? what : CollectiveTypeNames()[static_cast<size_t>(call.collective)],
      ToString(call.bytes()));
}

std::vector<PathShare> LongestFirst(const std::map<std::string, PathShare>& by_name) {
  std::vector<PathShare> out;
  for (const auto& [name, share] : by_name) out.push_back(share);
  std::stable_sort(out.begin(), out.end(),
                   [](const PathShare& a, const PathShare& b) { return a.time > b.time; });
  return out;
}

void AddTo(std::map<std::string, PathShare>* by_name, const std::string& name, Time time) {
  PathShare& share = (*by_name)[name];
  share.name = name;
  share.time += time;
  ++share.steps;
}

// Quotes a CSV field, as names come from files. A spreadsheet takes a field that begins with one of
// these characters for a formula; the apostrophe makes it text.
std::string Quoted(const std::string& text) {
  std::string out = "\"";
  if (text.find_first_of("=+-@\t") == 0) out += '\'';
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c == '\n' ? ' ' : c);
  return out + "\"";
}

std::string Microseconds(Time time) {
  return fmt::format("{}.{:06}", time.ps() / 1000000, time.ps() % 1000000);
}

}  // namespace

std::string PathPartName(int part) {
  if (part == 0) return "compute";
  if (part == kPathHostPart) return "host";
  if (part == kPathPartCount - 2) return "memory";
  return DimensionNames()[static_cast<size_t>(part - 1)] + " communication";
}

int PathPartOf(const Inputs& inputs, const PathStep& step) {
  if (step.kind == PathKind::kCompute) return 0;
  if (step.kind == PathKind::kHost) return kPathHostPart;
  if (step.kind == PathKind::kMemory) return kPathPartCount - 2;
  const Op& op = inputs.program_of(step.rank).ops[step.op];
  return 1 + static_cast<int>(inputs.workload.roles[op.role].dimension);
}

PathSummary SummarizePath(const Inputs& inputs) {
  PathSummary out;
  out.steps = CriticalPath(inputs);
  LinkNames links(inputs);
  std::map<std::string, PathShare> ops, of_links;
  std::set<int> ranks;
  for (const PathStep& step : out.steps) {
    const Time time = step.end - step.begin;
    const Op& op = inputs.program_of(step.rank).ops[step.op];
    out.parts[static_cast<size_t>(PathPartOf(inputs, step))] += time;
    ranks.insert(step.rank);
    if (step.kind == PathKind::kHost && op.kind != OpKind::kHostWork) {
      AddTo(&ops, "launches", time);
      continue;
    }
    AddTo(&ops, GroupName(inputs.workload, op), time);
    if (step.kind != PathKind::kTransfer) continue;
    ranks.insert(step.held_by);
    if (step.held_by != step.rank) ++out.jumps;
    for (const std::string& link : links.Of(step)) AddTo(&of_links, link, time);
  }
  out.ops = LongestFirst(ops);
  out.links = LongestFirst(of_links);
  out.ranks = static_cast<int>(ranks.size());
  return out;
}

std::string PathCsv(const Inputs& inputs, const PathSummary& path) {
  static constexpr const char* kKinds[] = {"compute", "host", "transfer", "memory"};
  LinkNames links(inputs);
  std::string out = "begin_us,end_us,kind,part,rank,op,name,stream,phase,held_by_rank,links\n";
  for (const PathStep& step : path.steps) {
    const Op& op = inputs.program_of(step.rank).ops[step.op];
    const bool moves = step.kind == PathKind::kTransfer;
    std::string names;
    if (moves) {
      for (const std::string& name : links.Of(step)) {
        names += (names.empty() ? "" : "; ") + name;
      }
    }
    out += fmt::format(
        "{},{},{},{},{},{},{},{},{},{},{}\n", Microseconds(step.begin), Microseconds(step.end),
        kKinds[static_cast<size_t>(step.kind)], PathPartName(PathPartOf(inputs, step)), step.rank,
        step.op, Quoted(OpName(inputs.workload, op)), Quoted(inputs.workload.streams[op.stream]),
        PhaseNames()[static_cast<size_t>(op.phase)], moves ? fmt::format("{}", step.held_by) : "",
        moves ? Quoted(names) : "");
  }
  return out;
}

}  // namespace drydock
