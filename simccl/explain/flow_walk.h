// Walks one member's programs primitive by primitive and finds what each primitive waits for.
// Internal to the lists of flows.
#ifndef DRYDOCK_SIMCCL_EXPLAIN_FLOW_WALK_H_
#define DRYDOCK_SIMCCL_EXPLAIN_FLOW_WALK_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "core/model/calls/slices.h"
#include "core/model/calls/step_cursor.h"
#include "core/model/flow_plan.h"

namespace drydock {

// The n-th chunk on a connection: one flow.
struct FlowName {
  uint32_t connection = 0;
  int64_t number = 0;
};

// One primitive of a program.
struct Primitive {
  const ChannelProgram* program = nullptr;
  int64_t index = 0;  // within the program
  int64_t bytes = 0;
  std::vector<FlowName> receives, sends;
  int64_t capacity = 1;  // chunks of this size that a connection's buffer holds
};

// Calls visit(const Primitive&) for every primitive of every program of a member, program by
// program.
template <typename Visit>
void WalkMember(const Plan& plan, int member, const Visit& visit) {
  std::map<uint32_t, int64_t> sent, received;  // by connection
  for (const ChannelProgram& program : plan.members[static_cast<size_t>(member)]) {
    const Work& work = plan.works[program.work];
    Primitive primitive;
    primitive.program = &program;
    for (StepCursor at(plan.patterns[program.pattern], program.position); !at.done(); at.Next()) {
      const auto name = [&](Slots slots, std::map<uint32_t, int64_t>* numbers,
                            std::vector<FlowName>* names) {
        names->clear();
        for (uint32_t i = 0; i < slots.count; ++i) {
          const uint32_t connection = plan.operands[program.operand_begin + slots.begin + i];
          names->push_back({connection, (*numbers)[connection]++});
        }
      };
      name(at.step().receive, &received, &primitive.receives);
      name(at.step().send, &sent, &primitive.sends);
      primitive.bytes = at.bytes();
      primitive.capacity = std::max<int64_t>(1, work.slots / SlotsOfChunk(work, primitive.bytes));
      visit(primitive);
      ++primitive.index;
    }
  }
}

// What the primitives of a channel wait for in addition to their data: a primitive waits for the
// one before it, the first of a work for the end of the work before, and the first of a kernel for
// the end of the kernel before. `Mark` identifies a finished primitive in a list.
template <typename Mark>
class ProgramOrder {
 public:
  explicit ProgramOrder(const Plan& plan) : plan_(plan) {}

  // Returns the marks that the next primitive of this program comes after.
  std::vector<Mark> Before(const ChannelProgram& program) {
    if (&program != program_) Begin(program);
    return before_;
  }
  void After(std::vector<Mark> marks) { before_ = std::move(marks); }
  // Call when all programs of the member have been walked.
  void EndMember() {
    program_ = nullptr;
    launch_ = 0;
    channels_.clear();
    before_.clear();
    before_kernel_.clear();
  }

 private:
  // A channel's work: the marks before it, and the ends of its programs so far.
  struct Channel {
    uint16_t work = 0;
    std::vector<Mark> before, ends;
  };
  void Begin(const ChannelProgram& program) {
    if (program_ != nullptr) {
      std::vector<Mark>& ends = channels_[program_->channel].ends;
      ends.insert(ends.end(), before_.begin(), before_.end());
    }
    const int launch = plan_.works[program.work].launch;
    if (launch != std::exchange(launch_, launch)) {
      before_kernel_.clear();
      for (auto& [channel, work] : channels_) {
        before_kernel_.insert(before_kernel_.end(), work.ends.begin(), work.ends.end());
      }
      channels_.clear();
    }
    const auto [found, added] = channels_.try_emplace(program.channel);
    Channel& channel = found->second;
    if (added) {
      channel.before = before_kernel_;
    } else if (channel.work != program.work) {
      channel.before = std::exchange(channel.ends, {});
    }
    channel.work = program.work;
    before_ = channel.before;
    program_ = &program;
  }

  const Plan& plan_;
  const ChannelProgram* program_ = nullptr;
  int launch_ = 0;
  std::map<uint16_t, Channel> channels_;
  std::vector<Mark> before_, before_kernel_;
};

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_EXPLAIN_FLOW_WALK_H_
