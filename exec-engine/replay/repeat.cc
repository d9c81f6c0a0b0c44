#include "exec-engine/replay/repeat.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "core/base/check.h"
#include "exec-engine/replay/accounting.h"

namespace drydock {
namespace {

// Returns the last op of each stream that has ops.
std::vector<uint32_t> LastOps(const Program& program, size_t streams) {
  constexpr uint32_t kNone = UINT32_MAX;
  std::vector<uint32_t> last(streams, kNone);
  for (uint32_t op = 0; op < program.ops.size(); ++op) last[program.ops[op].stream] = op;
  std::erase(last, kNone);
  std::sort(last.begin(), last.end());
  return last;
}

Program Repeated(const Program& program, int times, size_t streams) {
  const std::vector<uint32_t> last = LastOps(program, streams);
  const auto ops = static_cast<uint32_t>(program.ops.size());
  Program out;
  out.ops.reserve(program.ops.size() * static_cast<size_t>(times));
  out.dependency_begin.push_back(0);
  for (int i = 0; i < times; ++i) {
    const uint32_t shift = ops * static_cast<uint32_t>(i);
    for (uint32_t op = 0; op < ops; ++op) {
      out.ops.push_back(program.ops[op]);
      for (const uint32_t before : program.dependencies(op)) {
        out.dependency.push_back(before + shift);
      }
      if (i > 0 && program.dependencies(op).empty()) {
        for (const uint32_t before : last) out.dependency.push_back(before + shift - ops);
      }
      out.dependency_begin.push_back(static_cast<uint32_t>(out.dependency.size()));
    }
  }
  return out;
}

Time LastEnd(const RankTimeline& rank, size_t ops) {
  Time last;
  for (size_t op = 0; op < ops; ++op) last = std::max(last, rank.end[op]);
  return last;
}

// Returns the times from index `first` on, counted from `zero`.
std::vector<Time> Rest(const std::vector<Time>& times, size_t first, Time zero) {
  std::vector<Time> out;
  for (size_t i = first; i < times.size(); ++i) out.push_back(times[i] - zero);
  return out;
}

TimeAccount AccountFrom(const AccountedRank& rank, const RankTimeline& timeline, Time begin,
                        Time iteration) {
  const RankTimeline own = {Rest(timeline.start.get(), 0, begin),
                            Rest(timeline.ready.get(), 0, begin),
                            Rest(timeline.end.get(), 0, begin)};
  TimeAccount account = AccountFor(rank, own, iteration - begin);
  account.idle += begin;
  return account;
}

}  // namespace

Status CheckRepeat(const Workload& workload, int times) {
  const auto most = static_cast<uint64_t>(UINT32_MAX) / static_cast<uint64_t>(times);
  for (const Program& program : workload.programs) {
    // An op without dependencies gets one on the last op of each stream of the previous iteration.
    uint64_t first = 0;
    for (size_t op = 0; op < program.ops.size(); ++op) first += program.dependencies(op).empty();
    const uint64_t dependencies = program.dependency.size() + first * workload.streams.size();
    if (program.ops.size() < most && dependencies < most) continue;
    return Error(fmt::format(
        "{} iterations are too many for programs of {} ops: at most 2^32 can be numbered", times,
        program.ops.size()));
  }
  return OkStatus();
}

Workload Repeat(const Workload& workload, int times) {
  Workload out = workload;
  for (Program& program : out.programs) {
    program = Repeated(program, times, workload.streams.size());
  }
  return out;
}

void KeepLastIteration(const Workload& workload, const ReplayIndex& index, int times,
                       Timeline* timeline) {
  const auto program_of = [&](size_t rank) -> const Program& {
    return workload.programs[static_cast<size_t>(workload.class_of_rank[rank])];
  };
  std::vector<Time> done(static_cast<size_t>(times));  // ends of the iterations on all ranks
  std::vector<Time> begin;                             // begin of the last iteration, by rank
  Time zero = Time::Max();
  for (size_t rank = 0; rank < timeline->ranks.size(); ++rank) {
    const size_t ops = program_of(rank).ops.size();
    for (size_t i = 0; i < done.size(); ++i) {
      done[i] = std::max(done[i], LastEnd(timeline->ranks[rank], ops * (i + 1)));
    }
    begin.push_back(LastEnd(timeline->ranks[rank], ops * (done.size() - 1)));
    if (ops > 0) zero = std::min(zero, begin.back());
  }
  CHECK(times > 1 && zero < Time::Max());
  for (size_t i = 0; i < done.size(); ++i) {
    timeline->iterations.push_back(i == 0 ? done[0] : done[i] - done[i - 1]);
  }
  timeline->iteration = done.back() - zero;
  for (size_t rank = 0; rank < timeline->ranks.size(); ++rank) {
    RankTimeline& of_rank = timeline->ranks[rank];
    const size_t first = program_of(rank).ops.size() * (done.size() - 1);
    of_rank = {Rest(of_rank.start.get(), first, zero), Rest(of_rank.ready.get(), first, zero),
               Rest(of_rank.end.get(), first, zero)};
    const AccountedRank accounted = {program_of(rank), workload.roles, workload.transfers,
                                     &index.launches_of(static_cast<int>(rank))};
    timeline->accounts.push_back(
        AccountFrom(accounted, of_rank, std::max(begin[rank] - zero, Time()), timeline->iteration));
  }
}

}  // namespace drydock
