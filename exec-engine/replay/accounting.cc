#include "exec-engine/replay/accounting.h"

#include <algorithm>
#include <deque>
#include <numeric>
#include <utility>
#include <vector>

#include "core/base/check.h"
#include "core/model/op_causes.h"
#include "core/model/sample_read.h"

namespace drydock {
namespace {

// The waits of a host for values, in the order of the program.
struct ValueWaits {
  std::vector<Time> waited = {Time()};  // the first stands for no wait
  std::vector<uint32_t> before;         // by op: index of the last wait before its launch
};

// Follows the host through the program as LaunchQueue does, with the ends of ops known.
ValueWaits WaitsForValues(const AccountedRank& rank, const RankTimeline& timeline) {
  struct Stream {
    std::deque<std::pair<Time, int64_t>> running;  // ends and launches of ops that are issued
    int64_t launches = 0;
    Time end;  // of its last op
  };
  size_t used = 0;
  for (const Op& op : rank.program.ops) used = std::max(used, size_t{op.stream} + 1);
  std::vector<Stream> streams(used);
  ValueWaits waits;
  waits.before.reserve(rank.program.ops.size());
  Time free, device_end;
  for (uint32_t i = 0; i < rank.program.ops.size(); ++i) {
    const Op& op = rank.program.ops[i];
    const LaunchCost cost = rank.launches->CostOf(op);
    Stream& stream = streams[op.stream];
    if (op.host_waits != HostWait::kNothing) {
      Time there = op.host_waits == HostWait::kDeviceSync ? device_end : stream.end;
      if (op.host_waits == HostWait::kOpReady) {
        for (const uint32_t before : rank.program.dependencies(i)) {
          there = std::max(there, timeline.end[before]);
        }
      }
      waits.waited.push_back(std::max(Time(), there - free));
      free += waits.waited.back();
    }
    waits.before.push_back(static_cast<uint32_t>(waits.waited.size() - 1));
    while (!stream.running.empty() && (stream.running.front().first <= free ||
                                       stream.launches + cost.launches > rank.launches->queue())) {
      free = std::max(free, stream.running.front().first);
      stream.launches -= stream.running.front().second;
      stream.running.pop_front();
    }
    if (op.host_waits != HostWait::kNothing) free += rank.launches->wait();
    free += cost.busy;
    stream.running.emplace_back(timeline.end[i], cost.launches);
    stream.launches += cost.launches;
    stream.end = timeline.end[i];
    if (op.kind != OpKind::kHostWork) device_end = std::max(device_end, timeline.end[i]);
  }
  return waits;
}

class Accountant {
 public:
  Accountant(const AccountedRank& rank, const RankTimeline& timeline)
      : rank_(rank),
        program_(rank.program),
        timeline_(timeline),
        causes_(rank.program, timeline),
        modeled_(rank.launches != nullptr && rank.launches->modeled()) {
    if (modeled_) waits_ = WaitsForValues(rank, timeline);
  }

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
        ExplainGap(covered, op, causes_.Of(op), timeline_.start[op]);
        covered = timeline_.start[op];
      }
      // In this part of the op its kernels wait for their launches.
      if (timeline_.ready[op] > covered) {
        ChargeKernels(op, timeline_.ready[op] - covered);
        covered = timeline_.ready[op];
      }
      if (timeline_.end[op] > covered) {
        account_.compute += timeline_.end[op] - covered;
        covered = timeline_.end[op];
      }
    }
    const uint32_t last = causes_.LastToEnd();
    if (last != kNoCause && timeline_.end[last] > covered) {
      ExplainGap(covered, kNoCause, last, timeline_.end[last]);
      covered = timeline_.end[last];
    }
    CHECK(covered <= iteration);
    account_.idle += iteration - covered;
    return account_;
  }

 private:
  // Accounts for [from, to), in which nothing computes. `op` is the cause of `next`, which starts
  // at `to`, or the op that ends at `to`. From the end of `op` until `to`, the launch was missing.
  // Goes back from cause to cause.
  void ExplainGap(Time from, uint32_t next, uint32_t op, Time to) {
    while (to > from) {
      const Time ended = std::clamp(op == kNoCause ? Time() : timeline_.end[op], from, to);
      if (ended < to) ChargeLaunch(next, to - ended);
      to = ended;
      if (op == kNoCause) break;
      if (program_.ops[op].kind != OpKind::kCompute) {
        Charge(op, std::max(from, timeline_.start[op]), to);
      }
      to = std::max(from, std::min(to, timeline_.start[op]));
      next = op;
      op = causes_.Of(op);
    }
  }

  void Charge(HostCause cause, Time time) {
    account_.host += time;
    account_.host_time.of(cause) += time;
  }

  // Charges the time for which the launch of `op` was missing. The host works without a break until
  // it has launched `op`, so the last of that time went into `op`, what is before it into the op
  // that the host launched before, and so on.
  void ChargeLaunch(uint32_t op, Time gap) {
    if (!modeled_ || op == kNoCause) return Charge(HostCause::kLaunches, gap);
    const LaunchTable& table = *rank_.launches;
    Time left = gap, code, reads;
    const auto take = [&left](Time spent) {
      const Time taken = std::min(left, spent);
      left -= taken;
      return taken;
    };
    const LaunchCost own = table.CostOf(program_.ops[op]);
    take(table.latency() + (own.first - own.first_code));
    code += take(own.first_code);
    for (uint32_t at = op;; --at) {
      if (program_.ops[at].host_waits != HostWait::kNothing) reads += take(table.wait());
      if (at == 0 || left == Time()) break;
      const LaunchCost before = table.CostOf(program_.ops[at - 1]);
      take(before.busy - before.code);
      code += take(before.code);
    }
    Charge(HostCause::kValues, reads);
    ChargeWork(op, gap - reads, code);
  }

  // Charges the time in which the later kernels of an op that runs wait for their launches: the
  // share of code in it is that in the host's time for these kernels.
  void ChargeKernels(uint32_t op, Time gap) {
    if (!modeled_) return Charge(HostCause::kLaunches, gap);
    const LaunchCost cost = rank_.launches->CostOf(program_.ops[op]);
    ChargeWork(op, gap, Part(gap, cost.code - cost.first_code, cost.busy - cost.first));
  }

  // Charges time in which the GPU waits for launches up to `op`, of which the code of modules takes
  // `code`. If the host waited for a value before, it would have been ahead of the GPU by that time
  // otherwise; so what it waited is charged to the value, in the gaps that follow.
  void ChargeWork(uint32_t op, Time gap, Time code) {
    Time& lead = waits_.waited[waits_.before[op]];
    const Time lost = std::min(lead, gap);
    lead -= lost;
    code = Part(code, gap - lost, gap);
    Charge(HostCause::kValues, lost);
    Charge(HostCause::kCode, code);
    Charge(HostCause::kLaunches, gap - lost - code);
  }

  // Returns `time` * part / whole.
  static Time Part(Time time, Time part, Time whole) {
    if (whole == Time()) return Time();
    return Time::Ps(
        static_cast<int64_t>(static_cast<__int128>(time.ps()) * part.ps() / whole.ps()));
  }

  // Charges [from, to), which lies within the op. Until the op is ready, it waits for other ranks.
  // In the pipeline dimension this wait is the bubble of the schedule, not the fault of a
  // straggler, and only receives show it.
  void Charge(uint32_t op, Time from, Time to) {
    const Op& what = program_.ops[op];
    if (what.kind == OpKind::kHostWork) {
      const bool reads = rank_.transfers[what.work].name == kSampleRead;
      return Charge(reads ? HostCause::kData : HostCause::kWork, to - from);
    }
    if (UsesMemory(what.kind)) {
      account_.memory += to - from;
      return;
    }
    const Dimension dimension = rank_.roles[what.role].dimension;
    const bool pipeline = dimension == Dimension::kPipeline;
    if (!pipeline || what.kind == OpKind::kRecv) {
      const Time ready = std::clamp(timeline_.ready[op], from, to);
      (pipeline ? account_.bubble : account_.straggler) += ready - from;
      from = ready;
    }
    account_.exposed[static_cast<size_t>(dimension)] += to - from;
  }

  const AccountedRank& rank_;
  const Program& program_;
  const RankTimeline& timeline_;
  OpCauses causes_;
  const bool modeled_;
  ValueWaits waits_;
  TimeAccount account_;
};

}  // namespace

TimeAccount AccountFor(const AccountedRank& rank, const RankTimeline& timeline, Time iteration) {
  return Accountant(rank, timeline).Account(iteration);
}

Time Total(const TimeAccount& account) {
  return std::accumulate(std::begin(account.exposed), std::end(account.exposed),
                         account.compute + account.memory + account.host + account.straggler +
                             account.bubble + account.idle);
}

}  // namespace drydock
