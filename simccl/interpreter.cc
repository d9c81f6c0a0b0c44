#include "simccl/interpreter.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <span>
#include <utility>
#include <vector>

#include "core/base/check.h"
#include "core/model/step_cursor.h"

namespace drydock {
namespace {

using Values = std::vector<uint64_t>;  // one an element

// Where a reduce-scatter promises nothing, it may keep sums that are not complete.
constexpr uint64_t kAnything = UINT64_MAX;

// What member `m` holds at element `i` of its input, wherever it has one.
uint64_t Input(int member, int64_t element) {
  uint64_t x = static_cast<uint64_t>(member + 1) * 0x9e3779b97f4a7c15u +
               static_cast<uint64_t>(element) * 0xbf58476d1ce4e5b9u;
  x ^= x >> 31;
  return x * 0x94d049bb133111ebu + 1;
}

class Interpreter {
 public:
  Interpreter(const Plan& plan, const CommCall& call)
      : plan_(plan),
        call_(call),
        members_(call.group_size),
        element_bytes_(SizeOf(call.type).count()),
        queues_(plan.connections.size()),
        outputs_(static_cast<size_t>(members_), Values(static_cast<size_t>(call.count), 0)) {
    for (uint32_t c = 0; c < plan.connections.size(); ++c) {
      const Connection& link = plan.connections[c];
      if (link.reduction < 0) continue;
      const auto index = static_cast<size_t>(link.reduction);
      reductions_.resize(std::max(reductions_.size(), index + 1));
      const bool in = link.link == LinkKind::kToSwitch;
      (in ? reductions_[index].contributions : reductions_[index].results).push_back(c);
    }
    for (int m = 0; m < members_; ++m) {
      for (const ChannelProgram& program : plan.members[static_cast<size_t>(m)]) {
        const Pattern& pattern = plan.patterns[program.pattern];
        runners_.push_back({m, &program, StepCursor(pattern, program.position), 0});
      }
    }
  }

  std::string Run() {
    bool moved = true;
    while (moved) {
      moved = false;
      for (Runner& runner : runners_) {
        while (error_.empty() && CanStep(runner)) {
          Step(&runner);
          moved = true;
        }
      }
      if (!error_.empty()) return error_;
    }
    for (const Runner& runner : runners_) {
      if (runner.at.done()) continue;
      return fmt::format("deadlock: member {} waits at step {} of channel {}", runner.member,
                         runner.done, runner.program->channel);
    }
    for (size_t c = 0; c < queues_.size(); ++c) {
      if (!queues_[c].empty()) {
        return fmt::format("data from {} to {} is never received", plan_.connections[c].from,
                           plan_.connections[c].to);
      }
    }
    return Verdict();
  }

 private:
  struct Runner {
    int member;
    const ChannelProgram* program;
    StepCursor at;
    int64_t done;  // primitives
  };

  // One reduction in the switches.
  struct Reduction {
    std::vector<uint32_t> contributions, results;  // connections
  };

  std::span<const uint32_t> Operands(const Runner& runner, Slots slots) const {
    return std::span(plan_.operands)
        .subspan(runner.program->operand_begin + slots.begin, slots.count);
  }

  bool CanStep(const Runner& runner) const {
    if (runner.at.done()) return false;
    const drydock::Step& step = runner.at.step();
    for (const uint32_t connection : Operands(runner, step.receive)) {
      if (queues_[connection].empty()) return false;
    }
    for (const uint32_t connection : Operands(runner, step.send)) {
      if (Waiting(connection) >= Capacity(runner)) return false;
    }
    return true;
  }

  // Chunks sent on a connection that were not taken. What goes to the switches is sent once there
  // is room for the sum.
  size_t Waiting(uint32_t connection) const {
    const Connection& link = plan_.connections[connection];
    size_t waiting = queues_[connection].size();
    if (link.link != LinkKind::kToSwitch) return waiting;
    for (const uint32_t result : reductions_[static_cast<size_t>(link.reduction)].results) {
      if (plan_.connections[result].to == link.from) waiting += queues_[result].size();
    }
    return waiting;
  }

  // The switches: as often as every member has contributed, each gets the sum.
  void Reduce(const Reduction& reduction) {
    const auto missing = [this](uint32_t c) { return queues_[c].empty(); };
    while (std::none_of(reduction.contributions.begin(), reduction.contributions.end(), missing)) {
      Values sum(queues_[reduction.contributions.front()].front().size(), 0);
      for (const uint32_t c : reduction.contributions) {
        const Values& data = queues_[c].front();
        if (data.size() != sum.size()) {
          error_ = fmt::format("member {} sends {} elements to be summed with {}",
                               plan_.connections[c].from, data.size(), sum.size());
          return;
        }
        for (size_t e = 0; e < sum.size(); ++e) sum[e] += data[e];
        queues_[c].pop_front();
      }
      for (const uint32_t c : reduction.results) queues_[c].push_back(sum);
    }
  }

  // How many chunks like the present one a connection's buffer holds.
  size_t Capacity(const Runner& runner) const {
    const Work& work = plan_.works[runner.program->work];
    const int64_t slice = work.slice_bytes > 0 ? work.slice_bytes : runner.at.bytes();
    const int64_t slices = (runner.at.bytes() + slice - 1) / slice;
    return static_cast<size_t>(std::max<int64_t>(1, work.slots / slices));
  }

  // One primitive, whole: receive, combine, store, send.
  void Step(Runner* runner) {
    const drydock::Step& step = runner->at.step();
    const int64_t bytes = runner->at.bytes();
    const int64_t offset = runner->at.Offset(plan_, *runner->program);
    runner->at.Next();
    ++runner->done;
    const auto at = static_cast<size_t>(offset / element_bytes_);
    const auto count = static_cast<size_t>(bytes / element_bytes_);
    if (offset % element_bytes_ != 0 || bytes % element_bytes_ != 0 ||
        at + count > static_cast<size_t>(call_.count)) {
      error_ = fmt::format("member {}: {} B at {} are outside the buffer", runner->member, bytes,
                           offset);
      return;
    }
    Values data(count, 0);
    bool through_nvls = false;
    bool first = true;
    for (const uint32_t connection : Operands(*runner, step.receive)) {
      const Connection& link = plan_.connections[connection];
      through_nvls |= link.link == LinkKind::kNvls;
      if (link.to != runner->member) {
        error_ = fmt::format("member {} receives what is sent to {}", runner->member, link.to);
      }
      const Values& arrived = queues_[connection].front();
      if (arrived.size() != count) {
        error_ = fmt::format("member {} expects {} elements from {}, {} came", runner->member,
                             count, link.from, arrived.size());
        return;
      }
      if (!std::exchange(first, false) && !step.reduce) error_ = "two sources, and no reduction";
      for (size_t e = 0; e < count; ++e) data[e] += arrived[e];
      queues_[connection].pop_front();
    }
    const bool adds_local = step.receive.count == 0 || (step.reduce && !through_nvls);
    if (adds_local) {
      const bool copies = step.receive.count == 0 && step.send.count == 0;
      for (size_t e = 0; e < count; ++e) {
        data[e] += copies && call_.collective == CollectiveType::kAllToAllV
                       ? FromPair(runner->member, static_cast<int64_t>(at + e))
                       : LocalData(runner->member, at + e);
      }
    }
    if (step.store) Store(runner->member, at, data, adds_local);
    for (const uint32_t connection : Operands(*runner, step.send)) {
      if (plan_.connections[connection].from != runner->member) {
        error_ = fmt::format("member {} sends on another's connection", runner->member);
      }
      queues_[connection].push_back(data);
      if (plan_.connections[connection].link == LinkKind::kToSwitch) {
        Reduce(reductions_[static_cast<size_t>(plan_.connections[connection].reduction)]);
      }
    }
  }

  // What is sent and what is received lie in the same places of different buffers.
  bool HasTwoBuffers() const {
    return call_.collective == CollectiveType::kAllToAll ||
           call_.collective == CollectiveType::kAllToAllV;
  }

  // The local buffer: what was stored there, else the input.
  uint64_t LocalData(int member, size_t element) const {
    const uint64_t stored = outputs_[static_cast<size_t>(member)][element];
    if (stored != 0 && !HasTwoBuffers()) return stored;
    if (call_.collective == CollectiveType::kAllGather ||
        call_.collective == CollectiveType::kGather) {
      const auto part = static_cast<size_t>(call_.count / members_);
      if (element / part != static_cast<size_t>(member)) return 0;  // not this member's to send
    }
    return Input(member, static_cast<int64_t>(element));
  }

  // Storing again is right only for a sum that what was stored went into.
  void Store(int member, size_t at, const Values& data, bool grows) {
    Values& output = outputs_[static_cast<size_t>(member)];
    for (size_t e = 0; e < data.size(); ++e) {
      if (output[at + e] != 0 && !grows) {
        error_ = fmt::format("member {} stores element {} twice", member, at + e);
        return;
      }
      output[at + e] = data[e];
    }
  }

  // What the call promises at an element of a member's output; 0 where it leaves it alone.
  uint64_t Promised(int member, int64_t element) const {
    const int64_t part = call_.count / members_;
    const auto sum = [&] {
      uint64_t total = 0;
      for (int m = 0; m < members_; ++m) total += Input(m, element);
      return total;
    };
    switch (call_.collective) {
      case CollectiveType::kAllReduce:
        return sum();
      case CollectiveType::kReduce:
        return member == call_.root ? sum() : 0;
      case CollectiveType::kReduceScatter:
        return element / part == member ? sum() : kAnything;
      case CollectiveType::kAllGather:
        return Input(static_cast<int>(element / part), element);
      case CollectiveType::kBroadcast:
        return Input(call_.root, element);
      case CollectiveType::kSendRecv:
        return member == call_.peer ? Input(call_.root, element) : 0;
      case CollectiveType::kAllToAll:
        return Input(static_cast<int>(element / part), member * part + element % part);
      case CollectiveType::kAllToAllV:
        return FromPair(member, element);
      case CollectiveType::kGather:
        if (member != call_.root) return 0;
        return IsThereAlready(member, element) ? kAnything
                                               : Input(static_cast<int>(element / part), element);
      case CollectiveType::kScatter:
        if (element / part != member) return 0;
        return IsThereAlready(member, element) ? kAnything : Input(call_.root, element);
    }
    CHECK(false);
  }

  // In place, the root's own part is not moved.
  bool IsThereAlready(int member, int64_t element) const {
    const int64_t part = call_.count / members_;
    return call_.in_place && member == call_.root && element / part == member;
  }

  // All-to-all-v: buffers hold the parts of pairs one after another.
  uint64_t FromPair(int member, int64_t element) const {
    const auto count = [this](int from, int to) {
      return call_.pair_counts[static_cast<size_t>(from * members_ + to)];
    };
    int64_t end = 0;
    for (int from = 0; from < members_; ++from) {
      const int64_t begin = end;
      end += count(from, member);
      if (element >= end) continue;
      int64_t sent_at = 0;
      for (int to = 0; to < member; ++to) sent_at += count(from, to);
      return Input(from, sent_at + element - begin);
    }
    return 0;
  }

  std::string Verdict() const {
    for (int m = 0; m < members_; ++m) {
      for (int64_t e = 0; e < call_.count; ++e) {
        const uint64_t promised = Promised(m, e);
        if (promised == kAnything) continue;
        if (outputs_[static_cast<size_t>(m)][static_cast<size_t>(e)] == promised) continue;
        return fmt::format("member {} ends with the wrong element {}", m, e);
      }
    }
    return "";
  }

  const Plan& plan_;
  const CommCall& call_;
  const int members_;
  const int64_t element_bytes_;
  std::vector<std::deque<Values>> queues_;
  std::vector<Reduction> reductions_;
  std::vector<Values> outputs_;
  std::vector<Runner> runners_;
  std::string error_;
};

}  // namespace

std::string CheckPlan(const Plan& plan, const CommCall& call) {
  return Interpreter(plan, call).Run();
}

}  // namespace drydock
