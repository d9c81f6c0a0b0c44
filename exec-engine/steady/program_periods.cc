#include "exec-engine/steady/program_periods.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "core/base/check.h"
#include "core/model/calls/call_numbers.h"
#include "core/model/calls/grouped_call.h"

namespace drydock {
namespace {

// Fewer periods are not worth the search. More than kMost are joined into longer ones, so that
// their states are compared less often.
constexpr uint32_t kFewest = 6, kMost = 128;

// Compares all fields but the micro-batch and the tag.
bool DoTheSame(const Op& a, const Op& b) {
  return a.kind == b.kind && a.phase == b.phase && a.stream == b.stream && a.role == b.role &&
         a.work == b.work && a.layer == b.layer && a.chunk == b.chunk &&
         a.host_waits == b.host_waits && a.graph == b.graph;
}

// The period of one program.
class Search {
 public:
  explicit Search(const Program& program) : program_(program), ops_(program.ops) {}

  // Searches from the middle of the program, which is in the steady state if any op is. Takes the
  // first period that most of the program has, else the one that holds for the most ops: the
  // micro-batches of one chunk repeat a shorter period than the schedule, but only until the next
  // chunk.
  bool Find() {
    const auto size = static_cast<uint32_t>(ops_.size());
    uint32_t start = size / 2;
    while (start < size && (ops_[start].microbatch < 0 || IsCommunication(ops_[start].kind))) {
      ++start;
    }
    for (uint32_t op = start + 1; op < size && 2 * op < start + size; ++op) {
      if (!DoTheSame(ops_[start], ops_[op]) || ops_[op].microbatch <= ops_[start].microbatch) {
        continue;
      }
      found_.ops = op - start;
      microbatches_ = ops_[op].microbatch - ops_[start].microbatch;
      tag_step_.reset();
      if (!Repeats(start, op)) continue;
      Extend(start);
      if (found_.end - found_.begin > best_.periods.end - best_.periods.begin) {
        best_ = {found_, microbatches_, tag_step_};
      }
      if (2 * (found_.end - found_.begin) >= size) break;
    }
    return best_.periods.ops > 0;
  }

  const ProgramPeriods& found() const { return best_.periods; }
  int32_t microbatches() const { return best_.microbatches; }
  const std::optional<int64_t>& tag_step() const { return best_.tag_step; }

 private:
  bool Repeats(uint32_t begin, uint32_t end) {
    for (uint32_t op = begin; op < end; ++op) {
      if (!Repeats(op)) return false;
    }
    return true;
  }

  // Returns whether the op and the op one period later are alike.
  bool Repeats(uint32_t op) {
    const uint32_t later = op + found_.ops;
    if (later >= ops_.size()) return false;
    const Op &a = ops_[op], &b = ops_[later];
    const int32_t step = a.microbatch < 0 ? 0 : microbatches_;
    if (!DoTheSame(a, b) || b.microbatch - a.microbatch != step) return false;
    if (!TagsRepeat(a, b)) return false;
    const auto before = program_.dependencies(op), before_later = program_.dependencies(later);
    return std::equal(before.begin(), before.end(), before_later.begin(), before_later.end(),
                      [this](uint32_t x, uint32_t y) { return x + found_.ops == y; });
  }

  bool TagsRepeat(const Op& a, const Op& b) {
    const int64_t step = int64_t{b.tag} - a.tag;
    if (!IsPointToPoint(a)) return step == 0;
    if (a.microbatch < 0) return false;
    if (!tag_step_) tag_step_ = step;
    return step == *tag_step_;
  }

  void Extend(uint32_t start) {
    found_.begin = start;
    while (found_.begin > 0 && Repeats(found_.begin - 1)) --found_.begin;
    found_.end = start + found_.ops;
    while (Repeats(found_.end - found_.ops)) ++found_.end;
  }

  const Program& program_;
  const std::vector<Op>& ops_;
  // The period that is examined.
  ProgramPeriods found_;
  int32_t microbatches_ = 0;
  std::optional<int64_t> tag_step_;
  struct Best {
    ProgramPeriods periods;
    int32_t microbatches = 0;
    std::optional<int64_t> tag_step;
  } best_;
};

// Makes every period one of `microbatches` micro-batches, a multiple of its own. Returns whether
// enough periods are left.
bool Lengthen(ProgramPeriods* periods, int32_t own, int32_t microbatches) {
  if (periods->ops == 0) return true;  // of an empty program
  const auto ops = int64_t{periods->ops} * (microbatches / own);
  if (ops * kFewest > int64_t{periods->end} - periods->begin) return false;
  periods->ops = static_cast<uint32_t>(ops);
  return true;
}

// Returns whether the numbers of each group's calls have one form. Then calls keep their order if
// periods are left out.
bool GroupsNumberAlike(const Workload& workload) {
  std::vector<uint8_t> forms(workload.programs.size() * workload.roles.size());
  for (size_t c = 0; c < workload.programs.size(); ++c) {
    for (const Op& op : workload.programs[c].ops) {
      if (!IsCommunication(op.kind)) continue;
      const bool subset = InvolvesSubset(workload.calls[op.work]);
      forms[c * workload.roles.size() + op.role] |= IsPointToPoint(op) ? 1 : subset ? 2 : 4;
    }
  }
  std::vector<uint8_t> of_group(workload.groups.size());
  for (size_t role = 0; role < workload.roles.size(); ++role) {
    for (size_t rank = 0; rank < workload.class_of_rank.size(); ++rank) {
      const int group = workload.group_of_rank[role][rank];
      if (group < 0) continue;
      const auto c = static_cast<size_t>(workload.class_of_rank[rank]);
      of_group[static_cast<size_t>(group)] |= forms[c * workload.roles.size() + role];
    }
  }
  return std::all_of(of_group.begin(), of_group.end(),
                     [](uint8_t form) { return (form & (form - 1)) == 0; });
}

Program Without(const Program& program, const ProgramPeriods& periods, uint32_t from, int64_t count,
                int64_t tag_step) {
  const auto left_out = static_cast<uint32_t>(count * periods.ops);
  const uint32_t rest = from + left_out;
  Program out;
  out.dependency_begin.push_back(0);
  for (uint32_t op = 0; op < program.ops.size(); ++op) {
    if (op >= from && op < rest) continue;
    out.ops.push_back(program.ops[op]);
    Op& copy = out.ops.back();
    if (op >= rest && IsPointToPoint(copy) && copy.microbatch >= 0) {
      copy.tag = static_cast<int32_t>(copy.tag - count * tag_step);
    }
    for (const uint32_t before : program.dependencies(op)) {
      // A repeating op depends on what the op `count` periods earlier depends on.
      const bool repeats = op >= rest && op < periods.end;
      if (before >= rest || repeats) {
        out.dependency.push_back(before - left_out);
      } else if (before < from) {
        out.dependency.push_back(before);
      }
    }
    out.dependency_begin.push_back(static_cast<uint32_t>(out.dependency.size()));
  }
  return out;
}

}  // namespace

std::optional<WorkloadPeriods> FindPeriods(const Workload& workload) {
  if (workload.programs.empty() || !GroupsNumberAlike(workload)) return std::nullopt;
  WorkloadPeriods out;
  std::vector<int32_t> microbatches;
  std::optional<std::pair<int64_t, int32_t>> tag_step;  // and its micro-batches
  out.microbatches = 1;
  for (const Program& program : workload.programs) {
    if (program.ops.empty()) {  // of ranks that are not replayed
      out.classes.emplace_back();
      microbatches.push_back(1);
      continue;
    }
    Search search(program);
    if (!search.Find()) return std::nullopt;
    out.classes.push_back(search.found());
    microbatches.push_back(search.microbatches());
    out.microbatches = std::lcm(out.microbatches, search.microbatches());
    if (!search.tag_step()) continue;
    if (!tag_step) tag_step = {*search.tag_step(), search.microbatches()};
    if (*search.tag_step() * tag_step->second != tag_step->first * search.microbatches()) {
      return std::nullopt;
    }
  }
  int64_t most = 0;
  for (size_t c = 0; c < out.classes.size(); ++c) {
    const ProgramPeriods& each = out.classes[c];
    if (each.ops == 0) continue;
    const int64_t ops = int64_t{each.ops} * (out.microbatches / microbatches[c]);
    most = std::max(most, (int64_t{each.end} - each.begin) / ops);
  }
  out.microbatches *= static_cast<int32_t>(std::max<int64_t>((most + kMost - 1) / kMost, 1));
  for (size_t c = 0; c < out.classes.size(); ++c) {
    if (!Lengthen(&out.classes[c], microbatches[c], out.microbatches)) return std::nullopt;
  }
  if (tag_step) out.tag_step = tag_step->first * (out.microbatches / tag_step->second);
  return out;
}

int64_t SparePeriods(const Workload& workload, const WorkloadPeriods& periods, int64_t rest) {
  int64_t count = INT64_MAX;
  for (const ProgramPeriods& each : periods.classes) {
    if (each.ops > 0) count = std::min(count, (int64_t{each.end} - each.begin) / each.ops - rest);
  }
  if (count < rest || count == INT64_MAX) return 0;
  for (size_t c = 0; c < periods.classes.size(); ++c) {
    const ProgramPeriods& each = periods.classes[c];
    const Program& program = workload.programs[c];
    for (uint32_t op = each.end; op < program.ops.size(); ++op) {
      for (const uint32_t before : program.dependencies(op)) {
        if (before >= each.begin && before < each.begin + count * each.ops) return 0;
      }
    }
  }
  return count;
}

WorkloadPeriods Shortened(WorkloadPeriods periods, int64_t count) {
  for (ProgramPeriods& each : periods.classes) {
    each.end -= static_cast<uint32_t>(count * each.ops);
  }
  return periods;
}

Workload WithoutPeriods(const Workload& workload, const WorkloadPeriods& periods,
                        std::span<const uint32_t> from, int64_t count) {
  Workload out = workload;
  for (size_t c = 0; c < out.programs.size(); ++c) {
    const ProgramPeriods& of_class = periods.classes[c];
    CHECK(from[c] >= of_class.begin && from[c] + count * of_class.ops <= of_class.end);
    out.programs[c] = Without(workload.programs[c], of_class, from[c], count, periods.tag_step);
  }
  return out;
}

}  // namespace drydock
