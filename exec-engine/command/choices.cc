#include "exec-engine/command/choices.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <thread>

#include "core/base/spelling.h"
#include "exec-engine/command/network_pick.h"
#include "exec-engine/command/network_table.h"
#include "ns3-backend/packet_network.h"

namespace drydock {
namespace {

// The threads of the network synchronize thousands of times per second, at the end of every window.
// A thread that waits for a busy core would delay all others, so only idle cores count.
int IdleCores() {
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  double busy = 0;
  if (::getloadavg(&busy, 1) != 1) return cores;
  return std::clamp(cores - static_cast<int>(busy), 1, cores);
}

}  // namespace

Result<const NetworkModel*> FindNetwork(const std::string& name) {
  if (name == kAutoNetwork) return nullptr;
  std::vector<std::string> names;
  for (const NetworkChoice& choice : NetworkChoices()) {
    if (choice.model.name == name) return &choice.model;
    names.push_back(choice.model.name);
  }
  names.push_back(kAutoNetwork);
  return Error(fmt::format("there is no network '{}'{}; valid values are {}", name,
                           DidYouMean(name, names), Join(names)));
}

std::string NetworksText() {
  std::string text;
  for (const NetworkChoice& choice : NetworkChoices()) {
    text += fmt::format("{:<12} {}\n", choice.model.name, choice.summary);
  }
  return text + fmt::format("{:<12} packet for at most {} packets, fluid for more\n", kAutoNetwork,
                            kMaxPackets);
}

std::vector<std::string> UnusedSettings(const NetworkModel& network, const Topology& topology) {
  if (network.sends_packets) return {};
  const std::vector<std::string> read =
      network.attributes == nullptr ? std::vector<std::string>() : network.attributes();
  const Transport& set = topology.transport;
  const Transport usual;
  std::vector<std::string> unused;
  const auto add = [&unused](const char* key, auto value, auto other) {
    if (value != other) unused.push_back(fmt::format("{} {}", key, ToString(value)));
  };
  add("transport.congestion_control", set.congestion_control, usual.congestion_control);
  add("transport.flow_control", set.flow_control, usual.flow_control);
  add("transport.retransmission", set.retransmission, usual.retransmission);
  for (const auto& [name, value] : set.attributes) {
    if (std::count(read.begin(), read.end(), name) > 0) continue;
    unused.push_back(fmt::format("transport.attributes.{} {}", name, value));
  }
  if (network.reads_queue_pairs == nullptr || network.reads_queue_pairs(topology)) return unused;
  for (const auto& [name, value] : topology.nccl_settings) {
    if (name == "NCCL_IB_QPS_PER_CONNECTION" || name == "NCCL_IB_SPLIT_DATA_ON_QPS") {
      unused.push_back(fmt::format("nccl.settings.{} {}", name, value));
    }
  }
  return unused;
}

Result<int> ParseThreads(const std::string& text, int processes) {
  if (text == "auto") return std::max(1, IdleCores() / processes);
  int threads = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), threads);
  if (error != std::errc() || end != text.data() + text.size() || threads < 1 || threads > 1024) {
    return Error(fmt::format("--threads '{}' is neither 'auto' nor a number from 1 to 1024", text));
  }
  return threads;
}

Result<Fold> FindFold(const std::string& name) {
  const std::vector<std::string> names = {"off", "exact", "relaxed", "auto"};
  const auto it = std::find(names.begin(), names.end(), name);
  if (it != names.end()) return static_cast<Fold>(it - names.begin());
  return Error(fmt::format("there is no fold '{}'{}; valid values are {}", name,
                           DidYouMean(name, names), Join(names)));
}

Status CheckFold(const std::string& name, const NetworkModel* network) {
  ASSIGN_OR_RETURN(const Fold fold, FindFold(name));
  if (fold == Fold::kOff || fold == Fold::kAuto) return OkStatus();
  const auto can = [fold](const NetworkModel& model) {
    return fold == Fold::kExact ? model.folds_exactly : model.make_folded != nullptr;
  };
  if (network != nullptr && can(*network)) return OkStatus();
  std::vector<std::string> able;
  for (const NetworkChoice& choice : NetworkChoices()) {
    if (can(choice.model)) able.push_back(choice.model.name);
  }
  return Error(fmt::format("--fold {} needs --network {}, not {}", name, fmt::join(able, " or "),
                           network == nullptr ? kAutoNetwork : network->name));
}

Status CheckPartitioning(const std::string& name) {
  const std::vector<std::string>& names = Partitionings();
  if (std::find(names.begin(), names.end(), name) != names.end()) return OkStatus();
  return Error(fmt::format("there is no partitioning '{}'{}; valid values are {}", name,
                           DidYouMean(name, names), Join(names)));
}

}  // namespace drydock
