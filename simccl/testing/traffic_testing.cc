#include "simccl/testing/traffic_testing.h"

#include <numeric>

#include "core/base/check.h"
#include "core/model/calls/slices.h"
#include "core/model/calls/step_cursor.h"
#include "simccl/expand/expand.h"
#include "simccl/expand/plan_builder.h"
#include "simccl/nccl/nccl_calls.h"

namespace drydock {

std::vector<TrafficBytes> TrafficOf(const Plan& plan, End end,
                                    const std::function<bool(const Connection&)>& counts) {
  std::vector<TrafficBytes> total(plan.members.size());
  for (size_t m = 0; m < plan.members.size(); ++m) {
    for (const ChannelProgram& program : plan.members[m]) {
      const Protocol protocol = plan.works[program.work].protocol;
      const auto add = [&](const Step& step, int64_t bytes, int64_t times) {
        const Slots slots = end == End::kSends ? step.send : step.receive;
        for (uint32_t i = 0; i < slots.count; ++i) {
          const uint32_t c = plan.operands[program.operand_begin + slots.begin + i];
          if (!counts(plan.connections[c])) continue;
          total[m].payload += bytes * times;
          total[m].wire += WireBytes(protocol, bytes) * times;
        }
      };
      ForEachSize(plan.patterns[program.pattern], program.position, add);
    }
  }
  return total;
}

std::vector<TrafficBytes> Sent(const Plan& plan) {
  return TrafficOf(plan, End::kSends, [](const Connection&) { return true; });
}
std::vector<TrafficBytes> Received(const Plan& plan) {
  return TrafficOf(plan, End::kReceives, [](const Connection&) { return true; });
}
int64_t PayloadOf(const std::vector<TrafficBytes>& bytes) {
  return std::accumulate(bytes.begin(), bytes.end(), int64_t{0},
                         [](int64_t sum, const TrafficBytes& each) { return sum + each.payload; });
}

Plan Expanded(const NcclCommunicator& comm, const hacknccl_collective& work) {
  PlanBuilder builder(comm);
  const Status expanded = ExpandCollective(work, &builder);
  CHECK_NOTE(expanded.ok(), expanded.error().ToString());
  return builder.Finish().value();
}

Plan Expanded(const NcclCommunicator& comm, const CommCall& call) {
  PlanBuilder builder(comm);
  const Status expanded = ExpandCalls(CallsOf(call), &builder);
  CHECK_NOTE(expanded.ok(), expanded.error().ToString());
  return builder.Finish().value();
}

}  // namespace drydock
