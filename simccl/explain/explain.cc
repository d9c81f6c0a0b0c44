#include "simccl/explain/explain.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "core/base/plural.h"
#include "core/model/calls/grouped_call.h"
#include "core/model/calls/rank_list.h"
#include "core/nccl/topology_world.h"
#include "simccl/explain/communicator_text.h"
#include "simccl/explain/group_text.h"
#include "simccl/nccl/nccl_calls.h"

namespace drydock {
namespace {

std::string Name(int algorithm, int protocol) {
  return fmt::format("{} with {}", AlgorithmNames()[static_cast<size_t>(algorithm)],
                     ProtocolNames()[static_cast<size_t>(protocol)]);
}

// Returns "2 hosts; 2 dgx-h100 with 8 GPUs of the group each".
std::string HostsText(const SelectedCall& selected) {
  std::map<int, int> gpus_of_host;
  for (const Placement::Slot& slot : selected.Slots()) ++gpus_of_host[slot.host];
  std::map<std::pair<std::string, int>, int> hosts_of;  // (kind, GPUs) -> hosts
  for (const auto& [host, gpus] : gpus_of_host) {
    ++hosts_of[{selected.topology.kind_of_host(host).name, gpus}];
  }
  std::string text = Plural(static_cast<int64_t>(gpus_of_host.size()), "host");
  for (const auto& [kind, hosts] : hosts_of) {
    text += fmt::format("; {} {} with {} of the group{}", hosts, kind.first,
                        Plural(kind.second, "GPU"), hosts == 1 ? "" : " each");
  }
  return text + "\n";
}

// Returns a note if NCCL sees more hosts than there are machines.
std::string SplitText(const SelectedCall& selected, const NcclCommunicator& communicator) {
  std::set<int> machines;
  for (const Placement::Slot& slot : selected.Slots()) machines.insert(slot.host);
  const int hosts = communicator.shape().hosts;
  if (hosts <= static_cast<int>(machines.size())) return "";
  return fmt::format(
      "NCCL divides them into {} hosts: GPUs whose best path is the network belong to different "
      "hosts\n",
      hosts);
}

std::string SettingsText(const Topology& topology) {
  if (topology.nccl_settings.empty()) return "Settings of NCCL: none\n";
  std::string text = "Settings of NCCL:";
  for (const auto& [name, value] : topology.nccl_settings) {
    text += fmt::format(" {}={}", name, value);
  }
  return text + "\n";
}

// Returns which calls of a group the tuner weighed together: similar calls of similar size.
std::string DecidedText(const hacknccl_decision& decision) {
  const auto function = static_cast<size_t>(decision.function);
  constexpr CollectiveType kByFunction[] = {
      CollectiveType::kBroadcast, CollectiveType::kReduce, CollectiveType::kAllGather,
      CollectiveType::kReduceScatter, CollectiveType::kAllReduce};
  return fmt::format("The tuner on {}, {} together:\n",
                     CollectiveTypeNames()[static_cast<size_t>(kByFunction[function])],
                     ToString(Bytes(static_cast<int64_t>(decision.bytes))));
}

// Returns how NCCL uses registered buffers.
std::string DirectText(int direct) {
  std::vector<std::string> users;
  if ((direct & HACKNCCL_DIRECT_PEER) != 0) users.push_back("peers");
  if ((direct & HACKNCCL_DIRECT_NVLS) != 0) users.push_back("NVLS");
  if ((direct & HACKNCCL_DIRECT_NET) != 0) users.push_back("NICs");
  if (users.empty()) return "";
  return fmt::format("; direct from and to the registered buffers: {}", fmt::join(users, ", "));
}

std::string CollectiveText(const hacknccl_collective& work) {
  const int channels = work.channel_hi - work.channel_lo + 1;
  return fmt::format("{}: {} of {}, chunks of {}{}\n", Name(work.algorithm, work.protocol),
                     Plural(channels, "channel"), Plural(work.warps, "warp"),
                     ToString(Bytes(static_cast<int64_t>(work.chunk_lo))), DirectText(work.direct));
}

std::string ExchangesText(const NcclPlan& plan, int member) {
  for (const hacknccl_exchange& exchange : plan.exchanges) {
    if (exchange.send_peer < 0 || exchange.send_peer == member) continue;
    return fmt::format("messages: {} each over {} in chunks of {}, protocol {}{}\n",
                       ToString(Bytes(static_cast<int64_t>(exchange.send_bytes))),
                       Plural(exchange.send_channels, "channel"),
                       ToString(Bytes(exchange.send_chunk)), exchange.send_ll ? "LL" : "Simple",
                       DirectText(exchange.send_direct));
  }
  return "a copy\n";
}

std::string PlanText(const NcclPlan& plan, int member) {
  switch (plan.kind) {
    case HACKNCCL_PLAN_LOCAL:
      return "a copy inside the GPU\n";
    case HACKNCCL_PLAN_SYMMETRIC:
      return fmt::format("the symmetric-memory kernel {}\n", plan.symmetric_kernel);
    case HACKNCCL_PLAN_COPY_ENGINE:
      return "copy engines\n";
    case HACKNCCL_PLAN_RMA:
      return "one-sided puts\n";
    default:
      break;
  }
  if (plan.collectives.empty()) return ExchangesText(plan, member);
  std::string text;
  for (const hacknccl_collective& work : plan.collectives) text += CollectiveText(work);
  return text;
}

// Returns by how much the second fastest choice is slower.
std::string MarginText(const hacknccl_decision& decision) {
  const double best = decision.estimates[decision.algorithm][decision.protocol].time_us;
  int considered = 0, a = -1, p = -1;
  for (int i = 0; i < HACKNCCL_ALGORITHMS; ++i) {
    for (int j = 0; j < HACKNCCL_PROTOCOLS; ++j) {
      const double time = decision.estimates[i][j].time_us;
      if (time < 0) continue;
      ++considered;
      if (i == decision.algorithm && j == decision.protocol) continue;
      if (a < 0 || time < decision.estimates[a][p].time_us) std::tie(a, p) = std::pair(i, j);
    }
  }
  if (a < 0) return "It is the only choice that NCCL considers here.\n";
  const double next = decision.estimates[a][p].time_us;
  return fmt::format(
      "Of the {} choices that NCCL considers, it predicts the least time for {}: {:.1f} us; the "
      "next, {}, would take {:.1f} us ({:.0f} % more).\n",
      considered, Name(decision.algorithm, decision.protocol), best, Name(a, p), next,
      100 * (next / best - 1));
}

// Returns why NCCL considers none of the algorithm's protocols: the reason of Simple is the
// clearest.
std::string WhyNot(const hacknccl_decision& decision, int algorithm) {
  for (const hacknccl_estimate& estimate : decision.estimates[algorithm]) {
    if (estimate.time_us >= 0) return "";
  }
  return fmt::format("  {}", decision.estimates[algorithm][HACKNCCL_SIMPLE].why_not);
}

std::string EstimatesText(const hacknccl_decision& decision) {
  if (decision.algorithm < 0) return "NCCL has no algorithm for this call.\n";
  std::string text = MarginText(decision);
  text += fmt::format("{:<16}", "predicted (us)");
  for (const std::string& protocol : ProtocolNames()) text += fmt::format("{:>12}", protocol);
  text += "\n";
  for (int a = 0; a < HACKNCCL_ALGORITHMS; ++a) {
    text += fmt::format("  {:<14}", AlgorithmNames()[static_cast<size_t>(a)]);
    for (int p = 0; p < HACKNCCL_PROTOCOLS; ++p) {
      const double time = decision.estimates[a][p].time_us;
      const bool chosen = a == decision.algorithm && p == decision.protocol;
      text += time < 0 ? fmt::format("{:>12}", "-")
                       : fmt::format("{:>12}", fmt::format("{}{:.1f}", chosen ? "*" : "", time));
    }
    text += WhyNot(decision, a) + "\n";
  }
  return text;
}

// Returns a member that launches something; for messages, one that sends.
int AskedMember(const CommCall& call) {
  if (call.collective == CollectiveType::kGather) return (call.root + 1) % call.group_size;
  if (call.collective == CollectiveType::kScatter) return call.root;
  if (call.collective == CollectiveType::kSendRecv) return call.root;
  if (call.collective == CollectiveType::kGrouped && InvolvesSubset(call)) {
    return call.parts.front().root;
  }
  return 0;
}

}  // namespace

Result<std::string> Explain(const SelectedCall& selected, const std::string& library_path,
                            bool verbose) {
  ASSIGN_OR_RETURN(const NcclWorld world, WorldOf(selected.topology, library_path));
  ASSIGN_OR_RETURN(const NcclCommunicator communicator,
                   world.CreateCommunicator(PlacesOf(selected.Slots(), selected.topology)));
  std::string text = fmt::format("{}: ranks {} of {}\n", NameOf(selected.call),
                                 RanksText(selected.ranks), selected.topology.name);
  text += HostsText(selected) + SplitText(selected, communicator) + SettingsText(selected.topology);
  if (selected.call.group_size == 1) return text + "\nNCCL runs a copy inside the GPU\n";
  if (BypassesNccl(selected.call)) {
    return Error("--buffers userbuffers: the call bypasses NCCL; 'simccl expand' lists its flows");
  }
  const GroupOfCalls calls = CallsOf(selected.call);
  const int member = AskedMember(selected.call);
  ASSIGN_OR_RETURN(const NcclPlan plan,
                   communicator.Launch(member, calls.members[static_cast<size_t>(member)].calls));
  const bool grouped = selected.call.collective == CollectiveType::kGrouped;
  const bool works = plan.kind == HACKNCCL_PLAN_KERNEL;
  text += "\nNCCL runs ";
  text += grouped && works ? GroupText(selected, calls, member, plan) : PlanText(plan, member);
  for (const hacknccl_decision& decision : plan.decisions) {
    if (grouped) text += "\n" + DecidedText(decision);
    text += EstimatesText(decision);
  }

  const ShownCommunicator shown{communicator, selected.ranks, verbose};
  text += "\n" + RingsText(shown) + TreesText(shown);
  if (communicator.shape().nvls_channels > 0) text += NvlsText(shown);
  const int algorithm = plan.collectives.empty() ? -1 : plan.collectives[0].algorithm;
  ASSIGN_OR_RETURN(const std::string network, NetworkText(shown, algorithm));
  return text + "\n" + network;
}

}  // namespace drydock
