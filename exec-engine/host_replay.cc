#include "exec-engine/host_replay.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/check.h"

namespace drydock {
namespace {

constexpr TimerId kNextEvent = 0;

}  // namespace

HostReplay::HostReplay(HostId host, const ReplayIndex& index, const PortMap& ports, HostPort* port,
                       bool shortcut, std::vector<RankTimeline>* timelines, Progress* progress)
    : index_(index),
      port_(port),
      progress_(progress),
      gpu_type_(index.workload().topology.kind_of_host(host).gpu),
      first_rank_(index.first_rank(host)),
      communication_(host, index, ports, this, shortcut),
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
                     index.workload().streams.size(), timeline)});
    RankState& state = ranks_.back();
    for (size_t op = 0; op < program.ops.size(); ++op) {
      state.open_dependencies.push_back(program.dependency_begin[op + 1] -
                                        program.dependency_begin[op]);
    }
    state.stream_head = state.index->first_in_stream;
    state.state.assign(program.ops.size(), State::kWaiting);
    ops_ += static_cast<int64_t>(program.ops.size());
  }
}

void HostReplay::Start() {
  for (size_t gpu = 0; gpu < ranks_.size(); ++gpu) {
    ranks_[gpu].launches.Issue(Time());
    for (const uint32_t op : std::vector<uint32_t>(ranks_[gpu].stream_head)) {
      if (op != kNoOp) StartIfReady(static_cast<int>(gpu), op, Time());
    }
  }
  SetTimer();
}

// What the host could not issue before. Only a stream's next op can start.
void HostReplay::LaunchMore(int gpu, Time now) {
  RankState& rank = ranks_[static_cast<size_t>(gpu)];
  if (rank.launches.done()) return;
  const uint32_t before = rank.launches.next();
  const uint32_t after = rank.launches.Issue(now);
  for (uint32_t op = before; op < after; ++op) StartIfReady(gpu, op, now);
}

void HostReplay::StartIfReady(int gpu, uint32_t op, Time now) {
  RankState& rank = ranks_[static_cast<size_t>(gpu)];
  const Op& what = rank.index->program->ops[op];
  if (rank.state[op] != State::kWaiting || rank.open_dependencies[op] > 0 ||
      rank.stream_head[what.stream] != op || !rank.launches.issued(op)) {
    return;
  }
  const Time launched = rank.timeline->start[op];
  if (launched <= now) return StartOp(gpu, op, now);
  rank.state[op] = State::kLaunching;
  events_.Push({launched, gpu, op});
}

void HostReplay::StartOp(int gpu, uint32_t op, Time now) {
  RankState& rank = ranks_[static_cast<size_t>(gpu)];
  const Op& what = rank.index->program->ops[op];
  rank.state[op] = State::kRunning;
  if (what.kind == OpKind::kCompute) {
    const Time duration = index_.block_time(gpu_type_, what.work);
    const Time end = rank.launches.EndOf(op, now, duration);
    rank.timeline->start[op] = now;
    OnOpWillEnd(gpu, op, end, end - duration);
  } else {
    rank.timeline->start[op] = now;
    rank.timeline->end[op] = Time::Max();
    if (UsesMemory(what.kind)) return memory_.Start(gpu, op, what, now);
    communication_.Start(gpu, op, now);
  }
}

void HostReplay::OnOpWillEnd(int gpu, uint32_t op, Time end, Time ready) {
  RankTimeline& timeline = *ranks_[static_cast<size_t>(gpu)].timeline;
  timeline.end[op] = end;
  timeline.ready[op] = std::min(ready, end);
  events_.Push({end, gpu, op});
}

void HostReplay::OnEndUnknown(int gpu, uint32_t op) {
  ranks_[static_cast<size_t>(gpu)].timeline->end[op] = Time::Max();
}

void HostReplay::EndOp(int gpu, uint32_t op, Time now) {
  RankState& rank = ranks_[static_cast<size_t>(gpu)];
  rank.state[op] = State::kEnded;
  ++ops_ended_;
  const Op& what = rank.index->program->ops[op];
  if (IsCommunication(what.kind)) communication_.Ended(gpu, op);
  if (UsesMemory(what.kind)) memory_.Ended(gpu, op);
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
  const RankState& rank = ranks_[static_cast<size_t>(event.gpu)];
  if (rank.state[event.op] == State::kLaunching) return StartOp(event.gpu, event.op, now);
  // An end that was replaced by another leaves its event behind.
  const bool holds =
      rank.state[event.op] == State::kRunning && rank.timeline->end[event.op] == event.time;
  if (holds) EndOp(event.gpu, event.op, now);
}

void HostReplay::OnTimer(TimerId) {
  const Time now = port_->Now();
  const int64_t ended_before = ops_ended_;
  timer_ = Time::Max();
  for (;;) {
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
  progress_->Add(ops_ended_ - ended_before);
  SetTimer();
}

void HostReplay::SetTimer() {
  Time next = Time::Max();
  if (!events_.empty()) next = events_.top().time;
  if (!memory_.idle()) next = std::min(next, memory_.next_time());
  if (!communication_.idle()) next = std::min(next, communication_.next_time());
  if (next == Time::Max() || next == timer_) return;
  timer_ = next;
  port_->At(next, kNextEvent);
}

void HostReplay::OnSent(const Message& message) {
  communication_.OnSent(message, port_->Now());
  SetTimer();
}

void HostReplay::OnDelivered(const Message& message) {
  communication_.OnDelivered(message, port_->Now());
  SetTimer();
}

std::vector<StuckOp> HostReplay::StuckOps() const {
  std::vector<StuckOp> out;
  for (size_t gpu = 0; gpu < ranks_.size(); ++gpu) {
    const RankState& rank = ranks_[gpu];
    for (const uint32_t op : rank.stream_head) {
      if (op == kNoOp || rank.state[op] != State::kRunning) continue;
      std::string text = communication_.WhatItWaitsFor(static_cast<int>(gpu), op);
      if (!rank.launches.done()) {
        text += fmt::format("; its host waits before it issues op {}", rank.launches.next());
      }
      out.push_back({first_rank_ + static_cast<int>(gpu), op, std::move(text)});
    }
  }
  return out;
}

}  // namespace drydock
