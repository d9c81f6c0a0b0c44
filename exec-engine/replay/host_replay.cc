#include "exec-engine/replay/host_replay.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/check.h"

namespace drydock {
namespace {

constexpr TimerId kNextEvent = 0;

}  // namespace

HostReplay::HostReplay(HostId host, const ReplayIndex& index, const PortMap& ports, HostPort* port,
                       const Settings& settings, std::vector<RankTimeline>* timelines,
                       Progress::Host* progress)
    : index_(&index),
      port_(port),
      folded_port_(settings.folded_port),
      joint_calls_(settings.joint_calls),
      progress_(progress),
      until_(settings.until),
      gpu_type_(index.workload().topology.kind_of_host(host).gpu),
      first_rank_(index.first_rank(host)),
      jitter_(settings.variation.jitter),
      communication_(host, index, ports, settings.sharing, this, settings.shortcut,
                     settings.folding, settings.spanning_calls),
      memory_(host, index.workload(), ports, &communication_, this) {
  const int end = std::min(first_rank_ + ports.gpus(), index.workload().rank_count());
  for (int rank = first_rank_; rank < end; ++rank) {
    const ClassIndex& of_rank = index.class_of(rank);
    const Program& program = *of_rank.program;
    RankTimeline* timeline = &(*timelines)[static_cast<size_t>(rank)];
    ranks_.push_back(
        {&of_rank,
         timeline,
         {},
         {},
         {},
         LaunchQueue(program,
                     index.launches(index.workload().topology.hosts[static_cast<size_t>(host)]),
                     index.workload().streams.size(), timeline),
         GpuSharing(index.workload().topology.gpus[static_cast<size_t>(gpu_type_)])});
    RankState& state = ranks_.back();
    for (size_t op = 0; op < program.ops.size(); ++op) {
      state.open_dependencies.push_back(program.dependency_begin[op + 1] -
                                        program.dependency_begin[op]);
    }
    state.stream_head = state.index->first_in_stream;
    state.state.assign(program.ops.size(), State::kWaiting);
  }
  for (const SlowGpu& slow : settings.variation.slow_gpus) {
    if (slow.host == host) slow_.push_back(slow);
  }
}

void HostReplay::Start() {
  for (const SlowGpu& slow : slow_) {
    for (int gpu = 0; gpu < static_cast<int>(ranks_.size()); ++gpu) {
      if (slow.gpu < 0 || slow.gpu == gpu) events_.Push({slow.at, gpu, kNoOp});
    }
  }
  for (int gpu = 0; gpu < static_cast<int>(ranks_.size()); ++gpu) SetSlowdown(gpu, Time());
  for (size_t gpu = 0; gpu < ranks_.size(); ++gpu) {
    ranks_[gpu].launches.Issue(Time());
    for (const uint32_t op : std::vector<uint32_t>(ranks_[gpu].stream_head)) {
      if (op != kNoOp) StartIfReady(static_cast<int>(gpu), op, Time());
    }
  }
  SetTimer();
}

// Starts the ops that the host can issue now. Only the next op of a stream can start.
void HostReplay::LaunchMore(int gpu, Time now) {
  RankState& rank = ranks_[static_cast<size_t>(gpu)];
  if (rank.launches.done()) return;
  const uint32_t before = rank.launches.next();
  const uint32_t after = rank.launches.Issue(now);
  for (uint32_t op = before; op < after; ++op) StartIfReady(gpu, op, now);
}

// The start of an op that is otherwise ready: its launch, and for a call its random delay.
Time HostReplay::StartOf(int gpu, uint32_t op, Time now) const {
  const RankState& rank = ranks_[static_cast<size_t>(gpu)];
  const Time launched = std::max(now, rank.timeline->start[op]);
  if (!IsCommunication(rank.index->program->ops[op].kind)) return launched;
  return launched + jitter_.CallDelay(first_rank_ + gpu, op);
}

void HostReplay::StartIfReady(int gpu, uint32_t op, Time now) {
  RankState& rank = ranks_[static_cast<size_t>(gpu)];
  const Op& what = rank.index->program->ops[op];
  if (rank.state[op] != State::kWaiting || rank.open_dependencies[op] > 0 ||
      rank.stream_head[what.stream] != op || !rank.launches.issued(op)) {
    return;
  }
  const Time start = StartOf(gpu, op, now);
  if (start <= now) return StartOp(gpu, op, now);
  rank.state[op] = State::kLaunching;
  events_.Push({start, gpu, op});
}

void HostReplay::StartOp(int gpu, uint32_t op, Time now) {
  RankState& rank = ranks_[static_cast<size_t>(gpu)];
  const Op& what = rank.index->program->ops[op];
  rank.state[op] = State::kRunning;
  if (what.kind == OpKind::kCompute) {
    const BlockTime& block = index_->block_time(gpu_type_, what.work);
    const GpuSharing::Work work{op, jitter_.ComputeTime(block.total, first_rank_ + gpu, op),
                                block.tensor_share, block.memory_share,
                                rank.launches.EarliestEnd(op)};
    rank.timeline->start[op] = now;
    ComputeWillEnd(gpu, rank.sharing.Begin(work, now));
  } else {
    rank.timeline->start[op] = now;
    rank.timeline->end[op] = Time::Max();
    if (UsesMemory(what.kind)) return memory_.Start(gpu, op, what, now);
    const KernelLoad& load = StartCall(gpu, op, now);
    ComputeChanges(gpu, rank.sharing.Add(load, now));
  }
}

void HostReplay::OnOpWillEnd(int gpu, uint32_t op, Time end, Time ready) {
  RankTimeline& timeline = *ranks_[static_cast<size_t>(gpu)].timeline;
  timeline.end[op] = end;
  timeline.ready[op] = std::min(ready, end);
  events_.Push({end, gpu, op});
}

bool HostReplay::IsJoint(int gpu, uint32_t op) const {
  if (joint_calls_ == nullptr) return false;
  const Op& what = ranks_[static_cast<size_t>(gpu)].index->program->ops[op];
  return joint_calls_->IsJoint(index_->group_of(first_rank_ + gpu, what.role));
}

// Starts a call. Returns the load of its kernel.
const KernelLoad& HostReplay::StartCall(int gpu, uint32_t op, Time now) {
  if (!IsJoint(gpu, op)) return communication_.Start(gpu, op, now);
  const ClassIndex& index = *ranks_[static_cast<size_t>(gpu)].index;
  const Op& what = index.program->ops[op];
  const int rank = first_rank_ + gpu;
  const auto group = static_cast<uint32_t>(index_->group_of(rank, what.role));
  const CallKey key = MakeCallKey(group, index.sequence[op]);
  return joint_calls_->Arrive(this, rank, op, what.work, key, now);
}

const KernelLoad& HostReplay::CallEnded(int gpu, uint32_t op) {
  if (!IsJoint(gpu, op)) return communication_.Ended(gpu, op);
  const Op& what = ranks_[static_cast<size_t>(gpu)].index->program->ops[op];
  const int rank = first_rank_ + gpu;
  const auto group = static_cast<uint32_t>(index_->group_of(rank, what.role));
  return joint_calls_->LoadOf(what.work, group, rank);
}

// The last member may have arrived on another host, so this host's timer has to be set.
void HostReplay::OnJointEnd(int rank, uint32_t op, Time end, Time ready) {
  OnOpWillEnd(rank - first_rank_, op, end, ready);
  SetTimer();
}

void HostReplay::ComputeWillEnd(int gpu, const GpuSharing::End& end) {
  const Time start = ranks_[static_cast<size_t>(gpu)].timeline->start[end.op];
  OnOpWillEnd(gpu, end.op, end.end, start + end.late);
}

void HostReplay::ComputeChanges(int gpu, const std::vector<GpuSharing::End>& ends) {
  for (const GpuSharing::End& end : ends) ComputeWillEnd(gpu, end);
}

// Applies the last change of the GPU's speed up to now.
void HostReplay::SetSlowdown(int gpu, Time now) {
  double slowdown = 1;
  for (const SlowGpu& slow : slow_) {
    if (slow.at <= now && (slow.gpu < 0 || slow.gpu == gpu)) slowdown = slow.slowdown;
  }
  ComputeChanges(gpu, ranks_[static_cast<size_t>(gpu)].sharing.SlowDown(slowdown, now));
}

void HostReplay::OnEndUnknown(int gpu, uint32_t op) {
  ranks_[static_cast<size_t>(gpu)].timeline->end[op] = Time::Max();
}

void HostReplay::EndOp(int gpu, uint32_t op, Time now) {
  RankState& rank = ranks_[static_cast<size_t>(gpu)];
  rank.state[op] = State::kEnded;
  ++ops_ended_;
  const Op& what = rank.index->program->ops[op];
  if (what.kind == OpKind::kCompute) rank.sharing.Finish(op);
  if (UsesMemory(what.kind)) memory_.Ended(gpu, op);
  if (IsCommunication(what.kind)) {
    ComputeChanges(gpu, rank.sharing.Remove(CallEnded(gpu, op), now));
  }
  const uint32_t next = rank.index->next_in_stream[op];
  rank.stream_head[what.stream] = next;
  for (const uint32_t successor : rank.index->successors(op)) {
    --rank.open_dependencies[successor];
    StartIfReady(gpu, successor, now);
  }
  if (next != kNoOp) StartIfReady(gpu, next, now);
  rank.launches.OnEnded(op);
  LaunchMore(gpu, now);
}

void HostReplay::OnEvent(const OpEvent& event, Time now) {
  if (event.op == kNoOp) return SetSlowdown(event.gpu, now);
  const RankState& rank = ranks_[static_cast<size_t>(event.gpu)];
  if (rank.state[event.op] == State::kLaunching) return StartOp(event.gpu, event.op, now);
  // The event of an end that was replaced by another end is still in the heap.
  const bool holds =
      rank.state[event.op] == State::kRunning && rank.timeline->end[event.op] == event.time;
  if (holds) EndOp(event.gpu, event.op, now);
}

void HostReplay::OnTimer(TimerId) {
  const Time now = port_->Now();
  timer_ = Time::Max();
  for (;; ++events_seen_) {
    if (!events_.empty() && events_.top().time <= now) {
      OnEvent(events_.Pop(), now);
    } else if (!memory_.idle() && memory_.next_time() <= now) {
      memory_.RunNext();
    } else if (!communication_.idle() && communication_.next_time() <= now) {
      communication_.RunNext();
    } else {
      break;
    }
  }
  progress_->Set(ops_ended_, events_seen_, now);
  SetTimer();
}

void HostReplay::SetTimer() {
  Time next = Time::Max();
  if (!events_.empty()) next = events_.top().time;
  if (!memory_.idle()) next = std::min(next, memory_.next_time());
  if (!communication_.idle()) next = std::min(next, communication_.next_time());
  if (next == Time::Max() || next == timer_) return;
  if (next > until_) {
    stopped_ = true;
    return;
  }
  timer_ = next;
  port_->At(next, kNextEvent);
}

// Returns true after the end of the run, when messages that arrive no longer count.
bool HostReplay::IsOver() {
  const bool over = port_->Now() > until_;
  stopped_ |= over;
  ++events_seen_;
  return over;
}

void HostReplay::OnSent(const Message& message) {
  if (IsOver()) return;
  communication_.OnSent(message, port_->Now());
  SetTimer();
}

void HostReplay::OnDelivered(const Message& message) {
  if (IsOver()) return;
  communication_.OnDelivered(message, port_->Now());
  SetTimer();
}

void HostReplay::AppendState(RelativeState* out) const {
  CHECK(memory_.idle());
  out->AddTime(timer_);
  for (const OpEvent& event : events_.Sorted()) {
    out->AddTime(event.time);
    out->Add(event.gpu);
    out->AddOp(first_rank_ + event.gpu, event.op);
  }
  for (int gpu = 0; gpu < rank_count(); ++gpu) AppendRank(gpu, out);
  communication_.AppendState(out);
}

// Only the head of a stream can run. Heads also tell which ops have ended, and so how many
// dependencies of an op are open.
void HostReplay::AppendRank(int gpu, RelativeState* out) const {
  const RankState& rank = ranks_[static_cast<size_t>(gpu)];
  const int number = first_rank_ + gpu;
  for (const uint32_t head : rank.stream_head) {
    out->AddOp(number, head);
    if (head == kNoOp) continue;
    out->Add(static_cast<int64_t>(rank.state[head]));
    if (rank.state[head] == State::kRunning) {
      const Time end = rank.timeline->end[head];
      out->AddTime(rank.timeline->start[head]);
      out->AddTime(end);
      if (end < Time::Max()) out->AddTime(rank.timeline->ready[head]);
    }
    for (uint32_t op = head; rank.launches.modeled() && op != kNoOp && rank.launches.issued(op);
         op = rank.index->next_in_stream[op]) {
      out->AddTime(rank.timeline->start[op]);
    }
  }
  rank.launches.AppendState(number, out);
  rank.sharing.AppendState(number, out);
}

bool HostReplay::MayGoOnWith(const ReplayIndex& index, const LeftOut& left_out) const {
  for (size_t gpu = 0; gpu < ranks_.size(); ++gpu) {
    const RankState& rank = ranks_[gpu];
    const int number = first_rank_ + static_cast<int>(gpu);
    const auto of_rank =
        static_cast<size_t>(index.workload().class_of_rank[static_cast<size_t>(number)]);
    const auto end = static_cast<std::ptrdiff_t>(left_out.same[of_rank]);
    const ClassIndex& other = index.class_of(number);
    const auto waits = [](State state) { return state == State::kWaiting; };
    if (!std::all_of(rank.state.begin() + end, rank.state.end(), waits) ||
        !std::equal(rank.index->sequence.begin(), rank.index->sequence.begin() + end,
                    other.sequence.begin())) {
      return false;
    }
  }
  return true;
}

void HostReplay::GoOnWith(const ReplayIndex& index, const LeftOut& left_out) {
  for (size_t gpu = 0; gpu < ranks_.size(); ++gpu) {
    RankState& rank = ranks_[gpu];
    const int number = first_rank_ + static_cast<int>(gpu);
    const auto of_rank =
        static_cast<size_t>(index.workload().class_of_rank[static_cast<size_t>(number)]);
    rank.index = &index.class_of(number);
    const Program& program = *rank.index->program;
    const size_t ops = program.ops.size();
    for (SharedTimes* times : {&rank.timeline->start, &rank.timeline->ready, &rank.timeline->end}) {
      times->resize(ops);
    }
    rank.state.resize(ops);
    rank.open_dependencies.resize(ops);
    for (uint32_t op = 0; op < ops; ++op) {
      const auto before = program.dependencies(op);
      rank.open_dependencies[op] =
          static_cast<uint32_t>(std::count_if(before.begin(), before.end(), [&rank](uint32_t d) {
            return rank.state[d] != State::kEnded;
          }));
    }
    for (uint32_t& head : rank.stream_head) {
      if (head != kNoOp && head >= left_out.same[of_rank]) head -= left_out.ops[of_rank];
    }
    rank.launches.GoOnWith(program);
  }
  index_ = &index;
  communication_.GoOnWith(index);
}

void HostReplay::CutShort() {
  for (RankState& rank : ranks_) {
    RankTimeline& t = *rank.timeline;
    for (size_t op = 0; op < rank.state.size(); ++op) {
      if (rank.state[op] == State::kEnded) continue;
      const bool runs = rank.state[op] == State::kRunning;
      if (!runs) t.start[op] = until_;
      // The latest start of a member is unknown until a call ends, so the data of an unfinished
      // call counts as moving from its start.
      const bool computes = rank.index->program->ops[op].kind == OpKind::kCompute;
      t.ready[op] = runs && computes ? std::min(t.ready[op], until_) : t.start[op];
      t.end[op] = until_;
    }
  }
}

std::vector<StuckOp> HostReplay::StuckOps() const {
  std::vector<StuckOp> out;
  for (size_t gpu = 0; gpu < ranks_.size(); ++gpu) {
    const RankState& rank = ranks_[gpu];
    for (const uint32_t op : rank.stream_head) {
      if (op == kNoOp || rank.state[op] != State::kRunning) continue;
      if (!IsCommunication(rank.index->program->ops[op].kind)) continue;  // ends by itself
      Communication::Waiting waiting = communication_.DescribeWait(static_cast<int>(gpu), op);
      if (!rank.launches.done()) {
        waiting.text +=
            fmt::format("; its host waits before it issues op {}", rank.launches.next());
      }
      out.push_back({first_rank_ + static_cast<int>(gpu), op, std::move(waiting.text),
                     std::move(waiting.ranks)});
    }
  }
  return out;
}

}  // namespace drydock
