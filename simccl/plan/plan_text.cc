#include "simccl/plan/plan_text.h"

#include <fmt/format.h>

#include "core/model/calls/step_cursor.h"

namespace drydock {
namespace {

std::string Count(int64_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string LinkText(const Connection& connection) {
  switch (connection.link) {
    case LinkKind::kPeerWrite:
      return "";
    case LinkKind::kPeerRead:
      return " read";
    case LinkKind::kShared:
      return " through host memory";
    case LinkKind::kNvls:
      return " NVLS";
    case LinkKind::kToSwitch:
    case LinkKind::kFromSwitch:
      return fmt::format(" by the switches, NIC {}, reduction {}", connection.send_nic,
                         connection.reduction);
    case LinkKind::kNet:
      break;
  }
  std::string text = fmt::format(" NIC {} to {}", connection.send_nic, connection.recv_nic);
  if (connection.proxy >= 0) {
    const char* how = connection.link == LinkKind::kNet ? "by" : "through";
    text += fmt::format(" {} member {}", how, connection.proxy);
  }
  if (!connection.send_gdr || !connection.recv_gdr) text += " through host memory";
  return text;
}

// Returns the far ends of a step's connections: "0 1 2".
std::string Peers(const Plan& plan, const ChannelProgram& program, Slots slots, bool sends) {
  std::string text;
  for (uint32_t i = 0; i < slots.count; ++i) {
    const uint32_t operand = plan.operands[program.operand_begin + slots.begin + i];
    const Connection& connection = plan.connections[operand];
    text += fmt::format(" {}{}{}", sends ? connection.to : connection.from, LinkText(connection),
                        connection.direct ? " direct" : "");
  }
  return text;
}

std::string StepText(const Plan& plan, const ChannelProgram& program, const StepCursor& at) {
  const Step& step = at.step();
  std::string text =
      fmt::format("      {} at {}", ToString(Bytes(at.bytes())), at.Offset(plan, program));
  if (step.receive.count > 0) text += " from" + Peers(plan, program, step.receive, false);
  if (step.reduce) text += ", reduce";
  if (step.store) text += ", store";
  if (step.send.count > 0) text += " to" + Peers(plan, program, step.send, true);
  return text + (step.joined ? " (same primitive)\n" : "\n");
}

std::string ProgramText(const Plan& plan, const ChannelProgram& program, bool steps) {
  const Pattern& pattern = plan.patterns[program.pattern];
  int64_t bytes = 0, count = 0;
  ForEachSize(pattern, program.position, [&](const Step&, int64_t size, int64_t times) {
    bytes += size * times;
    count += times;
  });
  const std::string work = plan.works.size() > 1 ? fmt::format(" work {}", program.work) : "";
  std::string text = fmt::format("    channel {}{}: {}, {}\n", program.channel, work,
                                 Count(count, "step"), ToString(Bytes(bytes)));
  if (!steps) return text;
  for (StepCursor at(pattern, program.position); !at.done(); at.Next()) {
    text += StepText(plan, program, at);
  }
  return text;
}

std::string WorkText(const Work& work) {
  std::string text =
      fmt::format("{}/{}, {} of {} warps", AlgorithmNames()[static_cast<size_t>(work.algorithm)],
                  ProtocolNames()[static_cast<size_t>(work.protocol)],
                  Count(work.channels, "channel"), work.warps);
  if (work.slices > 0) {
    text += fmt::format(", {} slices a chunk", work.slices);
  } else if (work.slice_bytes > 0) {
    text += fmt::format(", slices of {}", ToString(Bytes(work.slice_bytes)));
  }
  return text + fmt::format(", {} slots", work.slots);
}

}  // namespace

std::string Headline(const Plan& plan) {
  if (plan.works.front().algorithm == Algorithm::kLocal) return plan.name + ": local";
  std::string text = plan.name + ": ";
  for (size_t w = 0; w < plan.works.size(); ++w) {
    const bool next_kernel = w > 0 && plan.works[w].launch > plan.works[w - 1].launch;
    text += (w == 0        ? ""
             : next_kernel ? "; in the next kernel "
                           : "; then ") +
            WorkText(plan.works[w]);
  }
  return text;
}

std::string PlanText(const Plan& plan, bool steps) {
  std::string text = Headline(plan) + "\n";
  for (size_t m = 0; m < plan.members.size(); ++m) {
    text += fmt::format("  member {}\n", m);
    for (const ChannelProgram& program : plan.members[m]) {
      text += ProgramText(plan, program, steps);
    }
  }
  return text;
}

}  // namespace drydock
