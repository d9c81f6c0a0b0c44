#include "simccl/explain/flow_list.h"

#include <fmt/format.h>

#include <utility>

#include "core/base/spelling.h"
#include "simccl/explain/flow_walk.h"
#include "simccl/explain/goal_schedule.h"

namespace drydock {
namespace {

const std::vector<std::string> kFormats = {"csv", "json", "goal"};  // by FlowFormat

const char* LinkName(LinkKind link) {
  switch (link) {
    case LinkKind::kPeerWrite:
      return "write";
    case LinkKind::kPeerRead:
      return "read";
    case LinkKind::kShared:
      return "shared";
    case LinkKind::kNet:
      return "net";
    case LinkKind::kNvls:
      return "nvls";
    case LinkKind::kToSwitch:
      return "to-switch";
    case LinkKind::kFromSwitch:
      return "from-switch";
    default:
      return "other";
  }
}

// One line of the list.
struct Flow {
  const ListedPlan* listed = nullptr;
  FlowName name;
  const Connection* connection = nullptr;
  const Primitive* primitive = nullptr;
  std::vector<FlowName> waits_for;
};

std::string NameText(const FlowName& name) {
  return fmt::format("{}.{}", name.connection, name.number);
}

int Rank(const Flow& flow, int member) { return flow.listed->names[static_cast<size_t>(member)]; }

std::string WaitsText(const Flow& flow, const char* separator, const char* quote) {
  std::string text;
  for (const FlowName& name : flow.waits_for) {
    text += fmt::format("{}{}{}{}", text.empty() ? "" : separator, quote, NameText(name), quote);
  }
  return text;
}

// Returns the flow whose slot in the buffer this flow takes, or "" while slots are free.
std::string RoomText(const Flow& flow) {
  const int64_t number = flow.name.number - flow.primitive->capacity;
  return number < 0 ? "" : NameText({flow.name.connection, number});
}

std::string OrNothing(int value) { return value < 0 ? "" : std::to_string(value); }

void WriteCsv(const Flow& flow, std::FILE* out) {
  const Connection& c = *flow.connection;
  fmt::print(out, "{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", flow.listed->index,
             flow.primitive->program->work, NameText(flow.name), Rank(flow, c.from),
             Rank(flow, c.to), flow.primitive->bytes, flow.primitive->program->channel,
             flow.primitive->index, LinkName(c.link), OrNothing(c.send_nic), OrNothing(c.recv_nic),
             c.proxy < 0 ? "" : std::to_string(Rank(flow, c.proxy)), WaitsText(flow, " ", ""),
             RoomText(flow));
}

void WriteJson(const Flow& flow, bool first, std::FILE* out) {
  const Connection& c = *flow.connection;
  fmt::print(out,
             "{}{{\"plan\": {}, \"work\": {}, \"flow\": \"{}\", \"source\": {}, \"destination\": "
             "{}, \"bytes\": "
             "{}, \"channel\": {}, \"step\": {}, \"link\": \"{}\"",
             first ? "\n" : ",\n", flow.listed->index, flow.primitive->program->work,
             NameText(flow.name), Rank(flow, c.from), Rank(flow, c.to), flow.primitive->bytes,
             flow.primitive->program->channel, flow.primitive->index, LinkName(c.link));
  if (c.send_nic >= 0) fmt::print(out, ", \"source_nic\": {}", c.send_nic);
  if (c.recv_nic >= 0) fmt::print(out, ", \"destination_nic\": {}", c.recv_nic);
  if (c.proxy >= 0) fmt::print(out, ", \"proxy\": {}", Rank(flow, c.proxy));
  fmt::print(out, ", \"waits_for\": [{}]", WaitsText(flow, ", ", "\""));
  if (const std::string room = RoomText(flow); !room.empty()) {
    fmt::print(out, ", \"room\": \"{}\"", room);
  }
  fmt::print(out, "}}");
}

// Calls visit(const Flow&) for every flow of the plan, sorted by sender.
template <typename Visit>
void ForEachFlow(const ListedPlan& listed, const Visit& visit) {
  const Plan& plan = *listed.plan;
  ProgramOrder<FlowName> order(plan);
  for (size_t m = 0; m < plan.members.size(); ++m) {
    WalkMember(plan, static_cast<int>(m), [&](const Primitive& primitive) {
      std::vector<FlowName> before = order.Before(*primitive.program);
      before.insert(before.end(), primitive.receives.begin(), primitive.receives.end());
      for (const FlowName& name : primitive.sends) {
        visit(Flow{&listed, name, &plan.connections[name.connection], &primitive, before});
      }
      // A flow depends on everything before it in its sender's program.
      order.After(primitive.sends.empty() ? std::move(before) : primitive.sends);
    });
    order.EndMember();
  }
}

}  // namespace

Result<FlowFormat> ParseFlowFormat(const std::string& name) {
  for (size_t i = 0; i < kFormats.size(); ++i) {
    if (kFormats[i] == name) return static_cast<FlowFormat>(i);
  }
  return Error(fmt::format("there is no format '{}'{}; valid values are {}", name,
                           DidYouMean(name, kFormats), Join(kFormats)));
}

void WriteFlows(const std::vector<ListedPlan>& plans, FlowFormat format, std::FILE* out) {
  if (format == FlowFormat::kGoal) return WriteGoal(*plans.at(0).plan, out);
  if (format == FlowFormat::kCsv) {
    fmt::print(
        out,
        "plan,work,flow,source,destination,bytes,channel,step,link,source_nic,destination_nic,"
        "proxy,waits_for,room\n");
    for (const ListedPlan& listed : plans) {
      ForEachFlow(listed, [out](const Flow& flow) { WriteCsv(flow, out); });
    }
    return;
  }
  fmt::print(out, "{{\"flows\": [");
  bool first = true;
  for (const ListedPlan& listed : plans) {
    ForEachFlow(listed, [&first, out](const Flow& flow) {
      WriteJson(flow, std::exchange(first, false), out);
    });
  }
  fmt::print(out, "\n]}}\n");
}

}  // namespace drydock
