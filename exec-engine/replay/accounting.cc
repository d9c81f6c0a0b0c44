#include "exec-engine/replay/accounting.h"

#include <algorithm>
#include <numeric>

#include "core/base/check.h"
#include "core/model/op_causes.h"

namespace drydock {
namespace {

class Accountant {
 public:
  Accountant(const Program& program, const std::vector<GroupRole>& roles,
             const RankTimeline& timeline)
      : program_(program), roles_(roles), timeline_(timeline), causes_(program, timeline) {}

  TimeAccount Account(Time iteration) {
    std::vector<uint32_t> compute;
    for (uint32_t op = 0; op < program_.ops.size(); ++op) {
      if (program_.ops[op].kind == OpKind::kCompute) compute.push_back(op);
    }
    std::stable_sort(compute.begin(), compute.end(), [this](uint32_t a, uint32_t b) {
      return timeline_.start[a] < timeline_.start[b];
    });
    Time covered;  // all time before it is accounted for
    for (const uint32_t op : compute) {
      if (timeline_.start[op] > covered) {
        ExplainGap(covered, causes_.Of(op), timeline_.start[op]);
        covered = timeline_.start[op];
      }
      // In this part of the op its kernels wait for their launches.
      if (timeline_.ready[op] > covered) {
        account_.host += timeline_.ready[op] - covered;
        covered = timeline_.ready[op];
      }
      if (timeline_.end[op] > covered) {
        account_.compute += timeline_.end[op] - covered;
        covered = timeline_.end[op];
      }
    }
    const uint32_t last = causes_.LastToEnd();
    if (last != kNoCause && timeline_.end[last] > covered) {
      ExplainGap(covered, last, timeline_.end[last]);
      covered = timeline_.end[last];
    }
    CHECK(covered <= iteration);
    account_.idle += iteration - covered;
    return account_;
  }

 private:
  // Accounts for [from, to), in which nothing computes. `op` is the cause of an op that starts at
  // `to`, or the op that ends at `to`. From the end of `op` until `to`, the launch was missing.
  // Goes back from cause to cause.
  void ExplainGap(Time from, uint32_t op, Time to) {
    while (to > from) {
      const Time ended = std::clamp(op == kNoCause ? Time() : timeline_.end[op], from, to);
      account_.host += to - ended;
      to = ended;
      if (op == kNoCause) break;
      if (program_.ops[op].kind != OpKind::kCompute) {
        Charge(op, std::max(from, timeline_.start[op]), to);
      }
      to = std::max(from, std::min(to, timeline_.start[op]));
      op = causes_.Of(op);
    }
  }

  // Charges [from, to), which lies within the op. Until the op is ready, it waits for other ranks.
  // In the pipeline dimension this wait is the bubble of the schedule, not the fault of a
  // straggler, and only receives show it.
  void Charge(uint32_t op, Time from, Time to) {
    const Op& what = program_.ops[op];
    if (UsesMemory(what.kind)) {
      (what.kind == OpKind::kHostWork ? account_.host : account_.memory) += to - from;
      return;
    }
    const Dimension dimension = roles_[what.role].dimension;
    const bool pipeline = dimension == Dimension::kPipeline;
    if (!pipeline || what.kind == OpKind::kRecv) {
      const Time ready = std::clamp(timeline_.ready[op], from, to);
      (pipeline ? account_.bubble : account_.straggler) += ready - from;
      from = ready;
    }
    account_.exposed[static_cast<size_t>(dimension)] += to - from;
  }

  const Program& program_;
  const std::vector<GroupRole>& roles_;
  const RankTimeline& timeline_;
  OpCauses causes_;
  TimeAccount account_;
};

}  // namespace

TimeAccount AccountFor(const Program& program, const std::vector<GroupRole>& roles,
                       const RankTimeline& timeline, Time iteration) {
  return Accountant(program, roles, timeline).Account(iteration);
}

Time Total(const TimeAccount& account) {
  return std::accumulate(std::begin(account.exposed), std::end(account.exposed),
                         account.compute + account.memory + account.host + account.straggler +
                             account.bubble + account.idle);
}

}  // namespace drydock
