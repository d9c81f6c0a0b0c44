#include "exec-engine/host/launch_queue.h"

#include <algorithm>

namespace drydock {

LaunchQueue::LaunchQueue(const Program& program, const LaunchTable& table, size_t streams,
                         RankTimeline* timeline)
    : program_(&program), table_(&table), timeline_(timeline) {
  if (table.modeled()) {
    streams_.resize(streams);
    has_ended_.assign(program.ops.size(), false);
  } else {
    next_ = static_cast<uint32_t>(program.ops.size());
  }
}

bool LaunchQueue::Waits(const Op& op) const {
  if (op.host_waits == HostWait::kNothing) return false;
  if (op.host_waits == HostWait::kDeviceSync) return device_ended_ < device_issued_;
  if (streams_[op.stream].ops > 0) return true;
  const auto before = program_->dependencies(next_);
  return !std::all_of(before.begin(), before.end(), [this](uint32_t d) { return has_ended_[d]; });
}

bool LaunchQueue::MustWait(const Op& op, const LaunchCost& cost) const {
  if (Waits(op)) return true;
  const int64_t queued = streams_[op.stream].launches;
  return queued > 0 && queued + cost.launches > table_->queue();
}

uint32_t LaunchQueue::Issue(Time now) {
  for (; !done(); ++next_) {
    const Op& op = program_->ops[next_];
    const LaunchCost cost = table_->CostOf(op);
    if (MustWait(op, cost)) {
      waits_ = true;
      break;
    }
    // The host may have been busy for longer than it had to wait.
    if (waits_) free_ = std::max(free_, now);
    waits_ = false;
    if (op.host_waits != HostWait::kNothing) free_ += table_->wait();
    timeline_->start[next_] = free_ + cost.first + table_->latency();
    free_ += cost.busy;
    streams_[op.stream].launches += cost.launches;
    ++streams_[op.stream].ops;
    if (op.kind != OpKind::kHostWork) ++device_issued_;
  }
  return next_;
}

Time LaunchQueue::EarliestEnd(uint32_t op) const {
  if (!table_->modeled()) return Time();
  return timeline_->start[op] + table_->CostOf(program_->ops[op]).span;
}

void LaunchQueue::OnEnded(uint32_t op) {
  if (!table_->modeled()) return;
  has_ended_[op] = true;
  const Op& what = program_->ops[op];
  if (what.kind != OpKind::kHostWork) ++device_ended_;
  streams_[what.stream].launches -= table_->CostOf(what).launches;
  --streams_[what.stream].ops;
}

void LaunchQueue::GoOnWith(const Program& program) {
  program_ = &program;
  if (table_->modeled()) {
    has_ended_.resize(program.ops.size());
  } else {
    next_ = static_cast<uint32_t>(program.ops.size());
  }
}

// The ops that have ended follow from the heads of the streams (HostReplay::AppendState). Of a host
// that has issued everything, such as that of a rank that is not replayed, it no longer matters
// since when it is free.
void LaunchQueue::AppendState(int rank, RelativeState* out) const {
  if (!modeled()) return;
  out->AddOp(rank, next_);
  if (!done()) waits_ ? out->AddFree(free_) : out->AddTime(free_);
  out->Add(waits_);
  for (const Stream& stream : streams_) {
    out->Add(stream.launches);
    out->Add(stream.ops);
  }
}

}  // namespace drydock
