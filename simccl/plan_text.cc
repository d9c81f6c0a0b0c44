#include "simccl/plan_text.h"

#include <fmt/format.h>

namespace drydock {
namespace {

std::string Count(size_t count, const char* what) {
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
    case LinkKind::kNet:
      break;
  }
  std::string text = fmt::format(" NIC {} to {}", connection.send_nic, connection.recv_nic);
  if (connection.proxy >= 0) {
    const char* how = connection.link == LinkKind::kNet ? "by" : "through";
    text += fmt::format(" {} member {}", how, connection.proxy);
  }
  if (!connection.gdr) text += " through host memory";
  return text;
}

// "0 1 2", the far ends of a step's connections.
std::string Peers(const Plan& plan, const ChannelProgram& program, uint32_t begin, uint32_t count,
                  bool sends) {
  std::string text;
  for (uint32_t i = begin; i < begin + count; ++i) {
    const Connection& connection = plan.connections[program.operands[i]];
    text += fmt::format(" {}{}", sends ? connection.to : connection.from, LinkText(connection));
  }
  return text;
}

std::string StepText(const Plan& plan, const ChannelProgram& program, const Step& step) {
  std::string text = fmt::format("      {} at {}", ToString(Bytes(step.bytes)), step.offset);
  if (step.receive_count > 0) {
    text += " from" + Peers(plan, program, step.receive_begin, step.receive_count, false);
  }
  if (step.reduce) text += ", reduce";
  if (step.store) text += ", store";
  if (step.send_count > 0) {
    text += " to" + Peers(plan, program, step.send_begin, step.send_count, true);
  }
  return text + (step.joined ? " (same primitive)\n" : "\n");
}

}  // namespace

std::string Headline(const Plan& plan) {
  if (plan.algorithm == Algorithm::kLocal) return plan.name + ": local";
  std::string text = fmt::format("{}: {}/{}, {} of {} warps", plan.name,
                                 AlgorithmNames()[static_cast<size_t>(plan.algorithm)],
                                 ProtocolNames()[static_cast<size_t>(plan.protocol)],
                                 Count(static_cast<size_t>(plan.channels), "channel"), plan.warps);
  if (plan.slice_bytes > 0)
    text += fmt::format(", slices of {}", ToString(Bytes(plan.slice_bytes)));
  return text + fmt::format(", {} slots", plan.slots);
}

std::string PlanText(const Plan& plan, bool steps) {
  std::string text = Headline(plan) + "\n";
  for (size_t m = 0; m < plan.members.size(); ++m) {
    text += fmt::format("  member {}\n", m);
    for (const ChannelProgram& program : plan.members[m]) {
      int64_t bytes = 0;
      for (const Step& step : program.steps) bytes += step.bytes;
      text += fmt::format("    channel {}: {}, {}\n", program.channel,
                          Count(program.steps.size(), "step"), ToString(Bytes(bytes)));
      if (!steps) continue;
      for (const Step& step : program.steps) text += StepText(plan, program, step);
    }
  }
  return text;
}

}  // namespace drydock
