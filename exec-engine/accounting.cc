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
    FindHostWaits();
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
      // Its kernels came one after another, as the host launched them.
      if (timeline_.ready[op] > covered) {
        account_.host += timeline_.ready[op] - covered;
        covered = timeline_.ready[op];
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

  // For each op, what the host last waited for before it issued the op.
  void FindHostWaits() {
    uint32_t last = kNone, waited = kNone;
    for (uint32_t op = 0; op < program_.ops.size(); ++op) {
      const HostWait wait = program_.ops[op].host_waits;
      host_waited_.push_back(waited);
      if (wait != HostWait::kNothing) {
        waited = host_waited_[op] = wait == HostWait::kAll ? last : Cause(op);
      }
      if (EndsLater(op, last)) last = op;
    }
  }

  // What the op's start waited for: of all it had to wait for, the last to end.
  uint32_t Cause(uint32_t op) const {
    uint32_t cause = previous_in_stream_[op];
    const uint32_t waited = host_waited_[op];
    // Where launches cost nothing, a host that waits holds up nobody.
    if (waited != kNone && timeline_.end[waited] <= timeline_.start[op] &&
        EndsLater(waited, cause)) {
      cause = waited;
    }
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

  // Nothing computes in [from, to); `op` was the last to end of what something that started (or
  // ended, if it is `op` itself) at `to` waited for; between the two, it was not launched. Goes
  // back from cause to cause.
  void ExplainGap(Time from, uint32_t op, Time to) {
    while (to > from) {
      const Time ended = std::clamp(op == kNone ? Time() : timeline_.end[op], from, to);
      account_.host += to - ended;
      to = ended;
      if (op == kNone) break;
      if (program_.ops[op].kind != OpKind::kCompute) {
        Charge(op, std::max(from, timeline_.start[op]), to);
      }
      to = std::max(from, std::min(to, timeline_.start[op]));
      op = Cause(op);
    }
  }

  // [from, to) lies within the op. A pipeline receive is a bubble until its sender has started.
  void Charge(uint32_t op, Time from, Time to) {
    const Op& what = program_.ops[op];
    if (UsesMemory(what.kind)) {
      (what.kind == OpKind::kHostWork ? account_.host : account_.memory) += to - from;
      return;
    }
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
  std::vector<uint32_t> host_waited_;
  TimeAccount account_;
};

}  // namespace

TimeAccount AccountFor(const Program& program, const std::vector<GroupRole>& roles,
                       const RankTimeline& timeline, Time iteration) {
  return Accountant(program, roles, timeline).Account(iteration);
}

Time Total(const TimeAccount& account) {
  return std::accumulate(
      std::begin(account.exposed), std::end(account.exposed),
      account.compute + account.memory + account.host + account.bubble + account.idle);
}

}  // namespace drydock
