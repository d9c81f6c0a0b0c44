#include "report/path/critical_path.h"

#include <algorithm>
#include <memory>

#include "core/model/op_causes.h"
#include "report/path/call_members.h"

namespace drydock {
namespace {

class Walker {
 public:
  explicit Walker(const Inputs& inputs)
      : inputs_(inputs),
        members_(inputs.workload),
        causes_(static_cast<size_t>(inputs.workload.rank_count())) {}

  std::vector<PathStep> Walk() {
    if (!FindEnd()) return {};
    // Each turn visits another op, so more turns than ops mean a cycle. No replay makes such a
    // timeline.
    for (int64_t left = CountOps(); left > 0 && now_ > Time(); --left) {
      const Op& op = inputs_.program_of(rank_).ops[op_];
      if (op.kind == OpKind::kCompute) {
        Back(inputs_.timeline_of(rank_).ready[op_], PathKind::kCompute, rank_);
        Back(inputs_.timeline_of(rank_).start[op_], PathKind::kHost, rank_);
      } else if (IsCommunication(op.kind)) {
        GoToLastMember();
      } else {
        const bool hosts = op.kind == OpKind::kHostWork;
        Back(inputs_.timeline_of(rank_).start[op_], hosts ? PathKind::kHost : PathKind::kMemory,
             rank_);
      }
      if (!GoToCause()) break;
    }
    Back(Time(), PathKind::kHost, rank_);
    std::reverse(steps_.begin(), steps_.end());
    return std::move(steps_);
  }

 private:
  bool FindEnd() {
    bool any = false;
    for (int rank = 0; rank < inputs_.workload.rank_count(); ++rank) {
      const RankTimeline& times = inputs_.timeline_of(rank);
      for (uint32_t op = 0; op < times.end.size(); ++op) {
        if (any && times.end[op] <= now_) continue;
        any = true;
        now_ = times.end[op];
        rank_ = rank;
        op_ = op;
      }
    }
    return any;
  }

  int64_t CountOps() const {
    int64_t ops = 0;
    for (int rank = 0; rank < inputs_.workload.rank_count(); ++rank) {
      ops += static_cast<int64_t>(inputs_.program_of(rank).ops.size());
    }
    return ops;
  }

  // Adds a step from now_ back to `begin`, if `begin` is earlier.
  void Back(Time begin, PathKind kind, int held_by) {
    if (begin >= now_) return;
    steps_.push_back({begin, now_, kind, rank_, op_, held_by});
    now_ = begin;
  }

  // Goes to the member that starts last among the members whose data the op needs. The data moved
  // from `ready` on.
  void GoToLastMember() {
    const Time ready = inputs_.timeline_of(rank_).ready[op_];
    CallMembers::Member last{rank_, op_};
    Time latest = inputs_.timeline_of(rank_).start[op_];
    for (const CallMembers::Member& member : members_.Of(rank_, op_)) {
      const Time start = inputs_.timeline_of(member.rank).start[member.op];
      if (start <= latest || start > ready) continue;
      latest = start;
      last = member;
    }
    Back(latest, PathKind::kTransfer, last.rank);
    rank_ = last.rank;
    op_ = last.op;
  }

  bool GoToCause() {
    std::unique_ptr<OpCauses>& causes = causes_[static_cast<size_t>(rank_)];
    if (causes == nullptr) {
      causes = std::make_unique<OpCauses>(inputs_.program_of(rank_), inputs_.timeline_of(rank_));
    }
    const uint32_t cause = causes->Of(op_);
    if (cause == kNoCause) return false;
    Back(inputs_.timeline_of(rank_).end[cause], PathKind::kHost, rank_);
    op_ = cause;
    return true;
  }

  const Inputs& inputs_;
  CallMembers members_;
  std::vector<std::unique_ptr<OpCauses>> causes_;  // by rank, on first use
  int rank_ = 0;
  uint32_t op_ = 0;
  Time now_;
  std::vector<PathStep> steps_;
};

}  // namespace

std::vector<PathStep> CriticalPath(const Inputs& inputs) { return Walker(inputs).Walk(); }

}  // namespace drydock
