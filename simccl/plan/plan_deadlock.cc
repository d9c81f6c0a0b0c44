#include "simccl/plan/plan_deadlock.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "core/base/check.h"
#include "core/model/calls/reductions.h"
#include "core/model/calls/slices.h"
#include "core/model/calls/step_cursor.h"

namespace drydock {
namespace {

// Special values of a runner: there is nothing to wait for; no runner provides what is missing.
constexpr uint32_t kFree = UINT32_MAX - 1, kNoRunner = UINT32_MAX;
constexpr size_t kLinesShown = 16;

class Tokens {
 public:
  explicit Tokens(const Plan& plan) : plan_(plan), flows_(plan.connections.size()) {
    for (PlanReduction& each : ReductionsOf(plan)) reductions_.push_back({std::move(each), 0});
    for (size_t m = 0; m < plan.members.size(); ++m) {
      AddMember(static_cast<int>(m));
    }
  }

  Status Run() {
    for (uint32_t r = 0; r < runners_.size(); ++r) Open(r);
    while (!open_.empty()) {
      const uint32_t r = open_.back();
      open_.pop_back();
      runners_[r].open = false;
      while (!runners_[r].at.done() && Waits(r) == kFree) Step(r);
    }
    for (uint32_t r = 0; r < runners_.size(); ++r) {
      if (!runners_[r].at.done()) return CycleFrom(r);
    }
    return OkStatus();
  }

 private:
  struct Runner {
    int member = 0;
    const ChannelProgram* program = nullptr;
    size_t block = 0, kernel = 0;  // index into blocks_
    StepCursor at;
    int64_t steps = 0;
    bool open = false;  // in open_
  };
  // The programs of one work on a member's channel, or of one kernel. The next work, or kernel,
  // begins when all have ended.
  struct Block {
    std::vector<uint32_t> runners;
    size_t open = 0;
    size_t before = SIZE_MAX, after = SIZE_MAX;
  };
  // A reduction in the switches.
  struct Reduction {
    PlanReduction plan;
    int64_t next = 0;  // the next piece
  };
  struct Flow {
    int64_t chunks = 0;  // in the buffer
    uint32_t sender = kNoRunner, receiver = kNoRunner;
  };

  // Blocks by place and order. Blocks of one place run one after another.
  using Blocks = std::map<std::pair<int, int>, size_t>;
  // The place of a member's kernels. The place of a work is its channel.
  static constexpr int kKernels = -1;

  void AddMember(int member) {
    Blocks blocks;
    for (const ChannelProgram& program : plan_.members[static_cast<size_t>(member)]) {
      const auto runner = static_cast<uint32_t>(runners_.size());
      Runner& added = runners_.emplace_back();
      added.member = member;
      added.program = &program;
      added.at = StepCursor(plan_.patterns[program.pattern], program.position);
      added.block = Join(runner, program.channel, program.work, &blocks);
      added.kernel = Join(runner, kKernels, plan_.works[program.work].launch, &blocks);
      NoteEnds(runner);
    }
    size_t before = SIZE_MAX;
    int place = 0;
    for (const auto& [key, block] : blocks) {
      if (before != SIZE_MAX && place == key.first) {
        blocks_[block].before = before;
        blocks_[before].after = block;
      }
      std::tie(before, place) = std::pair(block, key.first);
    }
  }

  size_t Join(uint32_t runner, int place, int order, Blocks* blocks) {
    const auto [entry, added] = blocks->emplace(std::pair(place, order), blocks_.size());
    if (added) blocks_.push_back({});
    blocks_[entry->second].runners.push_back(runner);
    ++blocks_[entry->second].open;
    return entry->second;
  }

  uint32_t ConnectionOf(const Runner& runner, uint32_t operand) const {
    return plan_.operands[runner.program->operand_begin + operand];
  }

  void NoteEnds(uint32_t r) {
    const Runner& runner = runners_[r];
    for (const drydock::Step& step : plan_.patterns[runner.program->pattern].steps) {
      for (uint32_t i = 0; i < step.send.count; ++i) {
        flows_[ConnectionOf(runner, step.send.begin + i)].sender = r;
      }
      for (uint32_t i = 0; i < step.receive.count; ++i) {
        flows_[ConnectionOf(runner, step.receive.begin + i)].receiver = r;
      }
    }
  }

  // Returns how many chunks of the current size a connection's buffer holds.
  int64_t Capacity(const Runner& runner) const {
    const Work& work = plan_.works[runner.program->work];
    return std::max<int64_t>(1, work.slots / SlotsOfChunk(work, runner.at.bytes()));
  }

  void Open(uint32_t r) {
    if (r == kNoRunner || std::exchange(runners_[r].open, true)) return;
    open_.push_back(r);
  }

  // Returns the runner that this one waits for, or kFree if it can continue or has ended. Sets
  // `*why` to what it waits for.
  uint32_t Waits(uint32_t r, const char** why = nullptr) const {
    const Runner& runner = runners_[r];
    const auto because = [why](const char* text, uint32_t blocker) {
      if (why != nullptr) *why = text;
      return blocker;
    };
    if (runner.at.done()) return kFree;
    if (const uint32_t other = OpenBefore(runner.block); other != kFree) {
      return because("the channel's earlier work on", other);
    }
    if (const uint32_t other = OpenBefore(runner.kernel); other != kFree) {
      return because("the earlier kernel on", other);
    }
    const drydock::Step& step = runner.at.step();
    for (uint32_t i = 0; i < step.receive.count; ++i) {
      const Flow& flow = flows_[ConnectionOf(runner, step.receive.begin + i)];
      if (flow.chunks == 0) {
        return because("data from", SenderFor(ConnectionOf(runner, step.receive.begin + i)));
      }
    }
    const int64_t capacity = Capacity(runner);
    for (uint32_t i = 0; i < step.send.count; ++i) {
      const Flow& flow = flows_[ConnectionOf(runner, step.send.begin + i)];
      if (flow.chunks < capacity) continue;
      const uint32_t connection = ConnectionOf(runner, step.send.begin + i);
      if (plan_.connections[connection].link == LinkKind::kToSwitch) {
        return because("data from", SenderFor(connection));
      }
      return because("room at", flow.receiver);
    }
    return kFree;
  }

  // Returns a runner of the block before that has not ended, or kFree.
  uint32_t OpenBefore(size_t block) const {
    const size_t before = blocks_[block].before;
    if (before == SIZE_MAX || blocks_[before].open == 0) return kFree;
    for (const uint32_t other : blocks_[before].runners) {
      if (!runners_[other].at.done()) return other;
    }
    return kFree;
  }

  // Returns the runner that must send on a connection. For a reduction it is the first that has not
  // contributed, or has no room for the result.
  uint32_t SenderFor(uint32_t connection) const {
    const int16_t number = plan_.connections[connection].reduction;
    if (number < 0) return flows_[connection].sender;
    const Reduction& reduction = reductions_[static_cast<size_t>(number)];
    for (const ReductionEnd& end : reduction.plan.ends) {
      if (IsMissing(reduction, end)) return flows_[end.to_switch].sender;
      if (HasNoRoom(reduction, end)) return flows_[end.from_switch].receiver;
    }
    return kNoRunner;
  }
  bool IsMissing(const Reduction& reduction, const ReductionEnd& end) const {
    return end.sends.Has(reduction.next) && flows_[end.to_switch].chunks == 0;
  }
  bool HasNoRoom(const Reduction& reduction, const ReductionEnd& end) const {
    return end.receives.Has(reduction.next) &&
           flows_[end.from_switch].chunks >= reduction.plan.slots;
  }

  // Reduces each piece as soon as all senders have sent it and all receivers have room for it.
  void Reduce(uint32_t connection) {
    const int16_t number = plan_.connections[connection].reduction;
    if (number < 0) return;
    Reduction& reduction = reductions_[static_cast<size_t>(number)];
    const std::vector<ReductionEnd>& ends = reduction.plan.ends;
    const auto waits = [&](const ReductionEnd& end) {
      return IsMissing(reduction, end) || HasNoRoom(reduction, end);
    };
    while (reduction.next < reduction.plan.pieces &&
           std::none_of(ends.begin(), ends.end(), waits)) {
      for (const ReductionEnd& end : ends) {
        if (end.sends.Has(reduction.next)) {
          --flows_[end.to_switch].chunks;
          Open(flows_[end.to_switch].sender);
        }
        if (end.receives.Has(reduction.next)) {
          ++flows_[end.from_switch].chunks;
          Open(flows_[end.from_switch].receiver);
        }
      }
      ++reduction.next;
    }
  }

  void Step(uint32_t r) {
    Runner& runner = runners_[r];
    const drydock::Step& step = runner.at.step();
    for (uint32_t i = 0; i < step.receive.count; ++i) {
      Flow& flow = flows_[ConnectionOf(runner, step.receive.begin + i)];
      --flow.chunks;
      Open(flow.sender);
      Reduce(ConnectionOf(runner, step.receive.begin + i));
    }
    for (uint32_t i = 0; i < step.send.count; ++i) {
      Flow& flow = flows_[ConnectionOf(runner, step.send.begin + i)];
      ++flow.chunks;
      Open(flow.receiver);
      Reduce(ConnectionOf(runner, step.send.begin + i));
    }
    ++runner.steps;
    runner.at.Next();
    if (!runner.at.done()) return;
    for (const size_t ended : {runner.block, runner.kernel}) {
      Block& block = blocks_[ended];
      if (--block.open > 0 || block.after == SIZE_MAX) continue;
      for (const uint32_t next : blocks_[block.after].runners) Open(next);
    }
  }

  Error CycleFrom(uint32_t r) const {
    std::vector<uint32_t> chain;
    for (uint32_t at = r; at < kFree; at = Waits(at)) {
      const auto seen = std::find(chain.begin(), chain.end(), at);
      if (seen != chain.end()) {
        chain.erase(chain.begin(), seen);
        return Error(fmt::format("{}: its channels wait for each other in a cycle{}", plan_.name,
                                 Text(chain)));
      }
      chain.push_back(at);
    }
    return Error(fmt::format("{}: a channel waits for a step that no channel runs{}", plan_.name,
                             Text({chain.back()})));
  }

  std::string Text(const std::vector<uint32_t>& chain) const {
    std::string text;
    for (size_t i = 0; i < std::min(chain.size(), kLinesShown); ++i) {
      const Runner& runner = runners_[chain[i]];
      const char* why = "";
      const uint32_t blocker = Waits(chain[i], &why);
      text += fmt::format(
          "\n  member {} on channel {} at step {} waits for {} {}", runner.member,
          runner.program->channel, runner.steps, why,
          blocker == kNoRunner ? "no member" : fmt::format("member {}", runners_[blocker].member));
    }
    if (chain.size() > kLinesShown) {
      text += fmt::format("\n  ... and {} more", chain.size() - kLinesShown);
    }
    return text;
  }

  const Plan& plan_;
  std::vector<Flow> flows_;  // by connection
  std::vector<Reduction> reductions_;
  std::vector<Runner> runners_;
  std::vector<Block> blocks_;
  std::vector<uint32_t> open_;  // runners that may be able to continue
};

}  // namespace

Status CheckPlanDeadlock(const Plan& plan) { return Tokens(plan).Run(); }

}  // namespace drydock
