#include "exec-engine/accounting.h"

#include <algorithm>
#include <numeric>

#include "core/base/check.h"

namespace drydock {
namespace {

constexpr uint32_t kNone = UINT32_MAX;

class Accountant {
 public:
  Accountant(const Program& program, const std::vector<GroupRole>& roles,
             const RankTimeline& timeline)
      : program_(program), roles_(roles), timeline_(timeline) {
    std::vector<uint32_t> last(256, kNone);
    for (uint32_t op = 0; op < program.ops.size(); ++op) {
      uint32_t& before = last[program.ops[op].stream];
      previous_in_stream_.push_back(before);
      before = op;
    }
  }

  TimeAccount Account(Time iteration) {
    std::vector<uint32_t> compute;
    for (uint32_t op = 0; op < program_.ops.size(); ++op) {
      if (program_.ops[op].kind == OpKind::kCompute) compute.push_back(op);
    }
    std::stable_sort(compute.begin(), compute.end(), [this](uint32_t a, uint32_t b) {
      return timeline_.start[a] < timeline_.start[b];
    });
    Time covered;  // everything before it is accounted for
    for (const uint32_t op : compute) {
      if (timeline_.start[op] > covered) {
        ExplainGap(covered, Cause(op), timeline_.start[op]);
        covered = timeline_.start[op];
      }
      if (timeline_.end[op] > covered) {
        account_.compute += timeline_.end[op] - covered;
        covered = timeline_.end[op];
      }
    }
    const uint32_t last = LastToEnd();
    if (last != kNone && timeline_.end[last] > covered) {
      ExplainGap(covered, last, timeline_.end[last]);
      covered = timeline_.end[last];
    }
    CHECK(covered <= iteration);
    account_.idle += iteration - covered;
    return account_;
  }

 private:
  // Communication before compute, then the later op, where two end together.
  bool EndsLater(uint32_t a, uint32_t b) const {
    if (b == kNone) return true;
    if (timeline_.end[a] != timeline_.end[b]) return timeline_.end[a] > timeline_.end[b];
    const bool a_computes = program_.ops[a].kind == OpKind::kCompute;
    const bool b_computes = program_.ops[b].kind == OpKind::kCompute;
    return a_computes != b_computes ? b_computes : a > b;
  }

  // What the op's start waited for: of all it had to wait for, the last to end.
  uint32_t Cause(uint32_t op) const {
    uint32_t cause = previous_in_stream_[op];
    for (const uint32_t dependency : program_.dependencies(op)) {
      if (EndsLater(dependency, cause)) cause = dependency;
    }
    return cause;
  }

  uint32_t LastToEnd() const {
    uint32_t last = kNone;
    for (uint32_t op = 0; op < program_.ops.size(); ++op) {
      if (EndsLater(op, last)) last = op;
    }
    return last;
  }

  // Nothing computes in [from, to); `op` ended at `to`. Goes back from cause to cause.
  void ExplainGap(Time from, uint32_t op, Time to) {
    while (to > from && op != kNone) {
      if (program_.ops[op].kind != OpKind::kCompute) {
        Charge(op, std::max(from, timeline_.start[op]), to);
      }
      to = std::max(from, std::min(to, timeline_.start[op]));
      op = Cause(op);
    }
    account_.idle += to - from;
  }

  // [from, to) lies within the op. A pipeline receive is a bubble until its sender has started.
  void Charge(uint32_t op, Time from, Time to) {
    const Op& what = program_.ops[op];
    const Dimension dimension = roles_[what.role].dimension;
    if (what.kind == OpKind::kRecv && dimension == Dimension::kPipeline) {
      const Time sent = std::clamp(timeline_.ready[op], from, to);
      account_.bubble += sent - from;
      from = sent;
    }
    account_.exposed[static_cast<size_t>(dimension)] += to - from;
  }

  const Program& program_;
  const std::vector<GroupRole>& roles_;
  const RankTimeline& timeline_;
  std::vector<uint32_t> previous_in_stream_;
  TimeAccount account_;
};

}  // namespace

TimeAccount AccountFor(const Program& program, const std::vector<GroupRole>& roles,
                       const RankTimeline& timeline, Time iteration) {
  return Accountant(program, roles, timeline).Account(iteration);
}

Time Total(const TimeAccount& account) {
  return std::accumulate(std::begin(account.exposed), std::end(account.exposed),
                         account.compute + account.bubble + account.idle);
}

}  // namespace drydock
