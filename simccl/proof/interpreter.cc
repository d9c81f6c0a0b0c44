#include "simccl/proof/interpreter.h"

#include <fmt/format.h>

#include <algorithm>
#include <list>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/model/calls/reductions.h"
#include "core/model/calls/slices.h"
#include "core/model/calls/step_cursor.h"
#include "simccl/proof/expected_buffer.h"
#include "simccl/proof/member_schedule.h"
#include "simccl/proof/symbolic_data.h"

namespace drydock {
namespace {

using Queue = std::list<SymbolData>;  // sent and not yet received

class Interpreter {
 public:
  Interpreter(const Plan& plan, const CommCall& call, const ProofRules& rules)
      : plan_(plan),
        parts_(CallPartsOf(call)),
        rules_(rules),
        members_(call.group_size),
        element_bytes_(SizeOf(call.type).count()),
        queues_(plan.connections.size()),
        outputs_(static_cast<size_t>(members_)),
        order_(static_cast<size_t>(members_)) {
    for (PlanReduction& each : ReductionsOf(plan)) reductions_.push_back({std::move(each), 0});
    for (int m = 0; m < members_; ++m) {
      for (const ChannelProgram& program : plan.members[static_cast<size_t>(m)]) {
        const Pattern& pattern = plan.patterns[program.pattern];
        runners_.push_back({m, &program, StepCursor(pattern, program.position), 0});
        if (!runners_.back().at.done()) order_[static_cast<size_t>(m)].Add(PlaceOf(program));
      }
    }
    if (rules.last_first) std::reverse(runners_.begin(), runners_.end());
  }

  std::optional<PlanMistake> Run() {
    const std::string what = RunAll();
    if (what.empty()) return std::nullopt;
    return PlanMistake{culprit_, what};
  }

 private:
  std::string RunAll() {
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
      std::erase_if(runners_, [](const Runner& runner) { return runner.at.done(); });
    }
    if (!runners_.empty()) {
      const Runner& runner = runners_.front();
      culprit_ = runner.member;
      return fmt::format("deadlock: member {} waits at step {} of channel {}", runner.member,
                         runner.done, runner.program->channel);
    }
    for (size_t c = 0; c < queues_.size(); ++c) {
      if (!queues_[c].empty()) {
        culprit_ = plan_.connections[c].to;
        return fmt::format("data from {} to {} is never received", plan_.connections[c].from,
                           plan_.connections[c].to);
      }
    }
    return Verdict();
  }

  struct Runner {
    int member;
    const ChannelProgram* program;
    StepCursor at;
    int64_t done;  // primitives
  };

  MemberSchedule::Place PlaceOf(const ChannelProgram& program) const {
    return {plan_.works[program.work].launch, program.channel, program.work};
  }

  // A reduction in the switches.
  struct Reduction {
    PlanReduction plan;
    int64_t next = 0;  // piece
  };

  std::span<const uint32_t> Operands(const Runner& runner, Slots slots) const {
    return std::span(plan_.operands)
        .subspan(runner.program->operand_begin + slots.begin, slots.count);
  }

  bool CanStep(const Runner& runner) const {
    if (runner.at.done()) return false;
    if (!order_[static_cast<size_t>(runner.member)].MayRun(PlaceOf(*runner.program))) return false;
    const drydock::Step& step = runner.at.step();
    for (const uint32_t connection : Operands(runner, step.receive)) {
      if (queues_[connection].empty()) return false;
    }
    for (const uint32_t connection : Operands(runner, step.send)) {
      if (Waiting(connection) >= Capacity(runner)) return false;
    }
    return true;
  }

  size_t Waiting(uint32_t connection) const { return queues_[connection].size(); }

  // Every sender has sent the piece, and every receiver has room for it.
  bool CanReduce(const PlanReduction& plan, int64_t piece) const {
    return std::all_of(plan.ends.begin(), plan.ends.end(), [&](const ReductionEnd& end) {
      const size_t room = static_cast<size_t>(plan.slots);
      return (!end.sends.Has(piece) || !queues_[end.to_switch].empty()) &&
             (!end.receives.Has(piece) || queues_[end.from_switch].size() < room);
    });
  }

  // Runs a reduction of the switches: each receiver gets the sum of each piece.
  void Reduce(int16_t number) {
    Reduction& reduction = reductions_[static_cast<size_t>(number)];
    const PlanReduction& plan = reduction.plan;
    for (; reduction.next < plan.pieces && CanReduce(plan, reduction.next); ++reduction.next) {
      std::optional<SymbolData> sum;
      for (const ReductionEnd& end : plan.ends) {
        if (!end.sends.Has(reduction.next)) continue;
        SymbolData data = std::move(queues_[end.to_switch].front());
        queues_[end.to_switch].pop_front();
        if (sum.has_value() && data.size() != sum->size()) {
          error_ = fmt::format("member {} sends {} elements to be summed with {}", end.member,
                               data.size(), sum->size());
          return;
        }
        sum.has_value() ? sum->Add(data) : void(sum = std::move(data));
      }
      if (!sum.has_value()) {
        error_ = fmt::format("no member sends piece {} of reduction {}", reduction.next, number);
        return;
      }
      for (const ReductionEnd& end : plan.ends) {
        if (end.receives.Has(reduction.next)) queues_[end.from_switch].push_back(*sum);
      }
    }
  }

  // Returns how many chunks of the current size a connection's buffer holds.
  size_t Capacity(const Runner& runner) const {
    const Work& work = plan_.works[runner.program->work];
    const int64_t slots = SlotsOfChunk(work, runner.at.bytes());
    return static_cast<size_t>(std::max<int64_t>(1, work.slots / slots));
  }

  // Runs one primitive: receive, reduce, store, send.
  void Step(Runner* runner) {
    const drydock::Step& step = runner->at.step();
    const int64_t bytes = runner->at.bytes();
    culprit_ = runner->member;
    const int64_t offset = runner->at.Offset(plan_, *runner->program);
    runner->at.Next();
    ++runner->done;
    if (runner->at.done()) {
      order_[static_cast<size_t>(runner->member)].End(PlaceOf(*runner->program));
    }
    const int64_t at = offset / element_bytes_, count = bytes / element_bytes_;
    if (offset % element_bytes_ != 0 || bytes % element_bytes_ != 0 || !IsOfOnePart(at, count)) {
      error_ = fmt::format("member {}: {} B at {} are outside the buffer", runner->member, bytes,
                           offset);
      return;
    }
    std::optional<SymbolData> data;
    bool through_nvls = false;
    for (const uint32_t connection : Operands(*runner, step.receive)) {
      through_nvls |= plan_.connections[connection].link == LinkKind::kNvls;
      if (!Receive(connection, *runner, count, step.reduce, &data)) return;
    }
    const bool adds_local = step.receive.count == 0 || (step.reduce && !through_nvls);
    if (adds_local) {
      const bool copies = step.receive.count == 0 && step.send.count == 0;
      const SymbolData local = LocalData(runner->member, at, count, copies);
      data.has_value() ? data->Add(local) : void(data = local);
    }
    if (step.store) Store(runner->member, at, *data, adds_local);
    for (const uint32_t connection : Operands(*runner, step.send)) {
      Send(connection, *runner, *data);
    }
  }

  // Adds the next chunk of a connection to `data`. Returns false if its size is wrong.
  bool Receive(uint32_t connection, const Runner& runner, int64_t count, bool reduce,
               std::optional<SymbolData>* data) {
    const Connection& link = plan_.connections[connection];
    if (link.to != runner.member) {
      error_ = fmt::format("member {} receives data that is sent to {}", runner.member, link.to);
    }
    SymbolData arrived = std::move(queues_[connection].front());
    queues_[connection].pop_front();
    if (link.reduction >= 0) Reduce(link.reduction);
    if (arrived.size() != count) {
      error_ = fmt::format("member {} expects {} elements from {}, {} came", runner.member, count,
                           link.from, arrived.size());
      return false;
    }
    if (!data->has_value()) {
      *data = std::move(arrived);
    } else {
      if (!reduce) error_ = "two sources, and no reduction";
      (*data)->Add(arrived);
    }
    return true;
  }

  void Send(uint32_t connection, const Runner& runner, const SymbolData& data) {
    const Connection& link = plan_.connections[connection];
    if (link.from != runner.member) {
      error_ = fmt::format("member {} sends on another's connection", runner.member);
    }
    queues_[connection].push_back(data);
    if (link.reduction >= 0) Reduce(link.reduction);
  }

  const CallPart& PartAt(int64_t at) const {
    const auto next =
        std::upper_bound(parts_.begin(), parts_.end(), at,
                         [](int64_t wanted, const CallPart& part) { return wanted < part.begin; });
    return *(next - 1);
  }
  bool IsOfOnePart(int64_t at, int64_t count) const {
    if (at < 0) return false;
    const CallPart& part = PartAt(at);
    const int64_t end = part.begin + part.call.count;
    if (at >= end) return at + count <= end + rules_.scratch / element_bytes_;
    return at + count <= end;
  }

  // The local buffer: what was stored there, else the input. `copies`: into the output, where the
  // data of an all-to-all-v lies elsewhere.
  SymbolData LocalData(int member, int64_t at, int64_t count, bool copies) const {
    const CallPart& part = PartAt(at);
    const CollectiveType type = part.call.collective;
    if (at >= part.begin + part.call.count) {  // scratch, which holds nothing at first
      return outputs_[static_cast<size_t>(member)].Read(at, count, [](int64_t, int64_t n) {
        return SymbolRun{n, 0, 0};
      });
    }
    if (copies && type == CollectiveType::kAllToAllV) {
      return ReceivedFromAll(part, member).Part(at - part.begin, count);
    }
    const auto input = [&](int64_t begin, int64_t n) {
      return OwnInput(part, member, begin - part.begin, n);
    };
    // Input and output have the same offsets in different buffers.
    const bool has_two_buffers =
        type == CollectiveType::kAllToAll || type == CollectiveType::kAllToAllV;
    if (has_two_buffers) return SymbolData(input(at, count));
    return outputs_[static_cast<size_t>(member)].Read(at, count, input);
  }

  // An element may be stored again only if the new value is a sum that includes the old one.
  void Store(int member, int64_t at, const SymbolData& data, bool grows) {
    SymbolBuffer& output = outputs_[static_cast<size_t>(member)];
    if (!grows && !rules_.overwrites) {
      if (const auto stored = output.FirstStored(at, data.size())) {
        error_ = fmt::format("member {} stores element {} twice", member, *stored);
        return;
      }
    }
    output.Store(at, data);
  }

  std::string Verdict() {
    for (int m = 0; m < members_; ++m) {
      for (const CallPart& part : parts_) {
        int64_t at = part.begin;
        for (const ExpectedBuffer& expected : ExpectedBuffersOf(part, m)) {
          if (const auto wrong = FirstWrong(expected, part, m, at)) {
            culprit_ = m;
            return fmt::format("member {} ends with the wrong element {}", m, *wrong);
          }
          at += expected.data.count;
        }
      }
    }
    return "";
  }

  // Returns the first element of a member from `at` on that is not as expected.
  std::optional<int64_t> FirstWrong(const ExpectedBuffer& expected, const CallPart& part,
                                    int member, int64_t at) const {
    const SymbolBuffer& buffer = outputs_[static_cast<size_t>(member)];
    const int64_t count = expected.data.count;
    if (expected.kind == ExpectedBuffer::Kind::kAnything) return std::nullopt;
    if (expected.kind == ExpectedBuffer::Kind::kUntouched) return buffer.FirstStored(at, count);
    const SymbolData held = buffer.Read(at, count, [&](int64_t begin, int64_t n) {
      return rules_.in_place ? OwnInput(part, member, begin - part.begin, n) : SymbolRun{n, 0, 0};
    });
    const auto difference = held.FirstDifference(SymbolData(expected.data));
    return difference.has_value() ? std::optional(at + *difference) : std::nullopt;
  }

  const Plan& plan_;
  const std::vector<CallPart> parts_;
  const ProofRules rules_;
  const int members_;
  const int64_t element_bytes_;
  std::vector<Queue> queues_;
  std::vector<Reduction> reductions_;
  std::vector<SymbolBuffer> outputs_;
  std::vector<MemberSchedule> order_;  // by member
  std::vector<Runner> runners_;
  std::string error_;
  int culprit_ = -1;
};

}  // namespace

std::optional<PlanMistake> FindPlanMistake(const Plan& plan, const CommCall& call,
                                           const ProofRules& rules) {
  return Interpreter(plan, call, rules).Run();
}

std::string CheckPlan(const Plan& plan, const CommCall& call) {
  const std::optional<PlanMistake> mistake = FindPlanMistake(plan, call, {});
  return mistake ? mistake->what : "";
}

}  // namespace drydock
