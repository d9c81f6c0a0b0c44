#include "exec-engine/host_replay.h"

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
      communication_(host, index, ports, this, shortcut) {
  const int end = std::min(first_rank_ + ports.gpus(), index.workload().rank_count());
  for (int rank = first_rank_; rank < end; ++rank) {
    RankState& state = ranks_.emplace_back();
    state.index = &index.class_of(rank);
    state.timeline = &(*timelines)[static_cast<size_t>(rank)];
    const Program& program = *state.index->program;
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
    for (const uint32_t op : std::vector<uint32_t>(ranks_[gpu].stream_head)) {
      if (op != kNoOp) StartIfReady(static_cast<int>(gpu), op, Time());
    }
  }
  SetTimer();
}

void HostReplay::StartIfReady(int gpu, uint32_t op, Time now) {
  RankState& rank = ranks_[static_cast<size_t>(gpu)];
  const Op& what = rank.index->program->ops[op];
  if (rank.state[op] != State::kWaiting || rank.open_dependencies[op] > 0 ||
      rank.stream_head[what.stream] != op) {
    return;
  }
  rank.state[op] = State::kRunning;
  rank.timeline->start[op] = now;
  if (what.kind == OpKind::kCompute) {
    OnOpWillEnd(gpu, op, now + index_.block_time(gpu_type_, what.work), now);
  } else {
    rank.timeline->end[op] = Time::Max();
    communication_.Start(gpu, op, now);
  }
}

void HostReplay::OnOpWillEnd(int gpu, uint32_t op, Time end, Time ready) {
  RankTimeline& timeline = *ranks_[static_cast<size_t>(gpu)].timeline;
  timeline.end[op] = end;
  timeline.ready[op] = std::min(ready, end);
  ends_.Push({end, gpu, op});
}

void HostReplay::OnEndUnknown(int gpu, uint32_t op) {
  ranks_[static_cast<size_t>(gpu)].timeline->end[op] = Time::Max();
}

void HostReplay::EndOp(int gpu, uint32_t op, Time now) {
  RankState& rank = ranks_[static_cast<size_t>(gpu)];
  rank.state[op] = State::kEnded;
  ++ops_ended_;
  const Op& what = rank.index->program->ops[op];
  if (what.kind != OpKind::kCompute) communication_.Ended(gpu, op);
  const uint32_t next = rank.index->next_in_stream[op];
  rank.stream_head[what.stream] = next;
  for (const uint32_t successor : rank.index->successors(op)) {
    --rank.open_dependencies[successor];
    StartIfReady(gpu, successor, now);
  }
  if (next != kNoOp) StartIfReady(gpu, next, now);
}

void HostReplay::OnTimer(TimerId) {
  const Time now = port_->Now();
  const int64_t ended_before = ops_ended_;
  timer_ = Time::Max();
  for (;;) {
    if (!ends_.empty() && ends_.top().time <= now) {
      const OpEnd end = ends_.Pop();
      const RankState& rank = ranks_[static_cast<size_t>(end.gpu)];
      // An end that was replaced by another leaves its event behind.
      const bool holds =
          rank.state[end.op] == State::kRunning && rank.timeline->end[end.op] == end.time;
      if (holds) EndOp(end.gpu, end.op, now);
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
  if (!ends_.empty()) next = ends_.top().time;
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
      out.push_back({first_rank_ + static_cast<int>(gpu), op,
                     communication_.WhatItWaitsFor(static_cast<int>(gpu), op)});
    }
  }
  return out;
}

}  // namespace drydock
