#include "simccl/explain/goal_schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "simccl/explain/flow_walk.h"

namespace drydock {
namespace {

// A labeled operation that later operations depend on.
struct Label {
  int64_t number = 0;
  bool is_send = false;
};

class Schedule {
 public:
  Schedule(const Plan& plan, std::FILE* out) : plan_(plan), out_(out) {}

  void Run() {
    fmt::print(out_, "num_ranks {}\n", plan_.members.size());
    for (size_t m = 0; m < plan_.members.size(); ++m) {
      fmt::print(out_, "\nrank {} {{\n", m);
      next_ = 1;
      WalkMember(plan_, static_cast<int>(m), [this](const Primitive& p) { Add(p); });
      order_.EndMember();
      for (const auto& [label, flow] : from_self_) {
        Require(label, {sent_to_self_[flow.connection][static_cast<size_t>(flow.number)], false});
      }
      from_self_.clear();
      sent_to_self_.clear();
      fmt::print(out_, "{}}}\n", requirements_);
      requirements_.clear();
    }
  }

 private:
  void Add(const Primitive& p) {
    std::vector<Label> before = order_.Before(*p.program);
    std::vector<Label> receives, sends;
    for (const FlowName& flow : p.receives) {
      receives.push_back({Receive(p, flow), false});
      for (const Label& earlier : before) Require(receives.back().number, earlier);
    }
    if (!receives.empty()) before = receives;
    for (const FlowName& flow : p.sends) {
      sends.push_back({Send(p, flow), true});
      for (const Label& earlier : before) Require(sends.back().number, earlier);
    }
    order_.After(sends.empty() ? std::move(before) : std::move(sends));
  }

  int64_t Receive(const Primitive& p, const FlowName& flow) {
    const Connection& c = plan_.connections[flow.connection];
    if (c.from == c.to) {
      from_self_.emplace_back(next_, flow);
      return Calc(p);
    }
    fmt::print(out_, "l{}: recv {}b from {} tag {} cpu {} nic {}\n", next_, p.bytes, c.from,
               flow.connection, p.program->channel, std::max<int>(0, c.recv_nic));
    return next_++;
  }

  int64_t Send(const Primitive& p, const FlowName& flow) {
    const Connection& c = plan_.connections[flow.connection];
    if (c.from == c.to) {
      sent_to_self_[flow.connection].push_back(next_);
      return Calc(p);
    }
    fmt::print(out_, "l{}: send {}b to {} tag {} cpu {} nic {}\n", next_, p.bytes, c.to,
               flow.connection, p.program->channel, std::max<int>(0, c.send_nic));
    return next_++;
  }

  int64_t Calc(const Primitive& p) {
    fmt::print(out_, "l{}: calc 0 cpu {}\n", next_, p.program->channel);
    return next_++;
  }

  // Held back until all operations of the rank are listed: a line may refer only to earlier lines.
  void Require(int64_t label, const Label& earlier) {
    fmt::format_to(std::back_inserter(requirements_), "l{} {} l{}\n", label,
                   earlier.is_send ? "irequires" : "requires", earlier.number);
  }

  const Plan& plan_;
  std::FILE* out_;
  int64_t next_ = 1;
  ProgramOrder<Label> order_{plan_};
  std::string requirements_;
  std::vector<std::pair<int64_t, FlowName>> from_self_;
  std::map<uint32_t, std::vector<int64_t>> sent_to_self_;  // labels by connection
};

}  // namespace

void WriteGoal(const Plan& plan, std::FILE* out) { Schedule(plan, out).Run(); }

}  // namespace drydock
