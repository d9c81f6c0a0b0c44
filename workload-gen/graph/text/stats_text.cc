#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>

#include "workload-gen/graph/text/stats.h"

namespace drydock {
namespace {

using Out = std::back_insert_iterator<std::string>;
using Json = nlohmann::ordered_json;

const std::string& NameOf(MemoryTier tier) { return MemoryTierNames()[static_cast<size_t>(tier)]; }
const std::string& NameOf(Pass pass) { return PassNames()[static_cast<size_t>(pass)]; }
const std::string& NameOf(Phase phase) { return PhaseNames()[static_cast<size_t>(phase)]; }
const std::string& NameOf(CollectiveType type) {
  return CollectiveTypeNames()[static_cast<size_t>(type)];
}

// Returns "1.5 GB", also for counts that exceed Bytes.
std::string SizeText(double bytes) {
  return bytes < 9e18 ? ToString(Bytes(static_cast<int64_t>(bytes)))
                      : fmt::format("{:.4g} B", bytes);
}

}  // namespace

std::string StatsText(const Workload& w, const WorkloadStats& stats) {
  std::string text = fmt::format(
      "{}: {}\n{} ranks, {} programs, {} ops over all ranks, {:.6g} FLOP\n", w.totals.model_name,
      w.totals.layout, w.rank_count(), w.class_count, stats.ops, stats.flops);
  fmt::format_to(Out(text), "\n{:<16}{:>12}{:>12}{:>12}{:>12}\n", "phase", "compute", "collectives",
                 "sends", "receives");
  for (const WorkloadStats::Phased& row : stats.phases) {
    fmt::format_to(Out(text), "{:<16}{:>12}{:>12}{:>12}{:>12}\n", NameOf(row.phase), row.compute,
                   row.collectives, row.sends, row.receives);
  }
  fmt::format_to(Out(text), "\n{:<18}{:<8}{:>12}{:>14}{:>14}\n", "compute", "pass", "times", "FLOP",
                 "bytes");
  for (const WorkloadStats::Compute& row : stats.compute) {
    fmt::format_to(Out(text), "{:<18}{:<8}{:>12}{:>14.6g}{:>14}\n", SubmoduleKindNames()[row.kind],
                   NameOf(row.pass), row.times, row.flops, SizeText(row.bytes));
  }
  fmt::format_to(Out(text), "\n{:<12}{:<16}{:>8}{:>10}{:>12}{:>14}\n", "role", "call", "groups",
                 "members", "calls", "bytes");
  for (const WorkloadStats::Communication& row : stats.communication) {
    const std::string members = row.least_members == row.most_members
                                    ? fmt::format("{}", row.least_members)
                                    : fmt::format("{}-{}", row.least_members, row.most_members);
    fmt::format_to(Out(text), "{:<12}{:<16}{:>8}{:>10}{:>12}{:>14}\n", row.role,
                   NameOf(row.collective), row.groups, members, row.calls, SizeText(row.bytes));
  }
  if (!stats.transfers.empty()) {
    fmt::format_to(Out(text), "\n{:<28}{:<8}{:<12}{:>12}{:>14}\n", "memory", "tier", "kind",
                   "times", "bytes");
  }
  for (const WorkloadStats::Transfers& row : stats.transfers) {
    fmt::format_to(Out(text), "{:<28}{:<8}{:<12}{:>12}{:>14}\n", row.name, NameOf(row.tier),
                   OpKindName(row.kind), row.times, SizeText(row.bytes));
  }
  if (!w.pytorch.empty()) {
    fmt::format_to(Out(text), "\n{:<12}{:>22}{:>22}\n", "program", "max_memory_allocated",
                   "max_memory_reserved");
  }
  for (size_t c = 0; c < w.pytorch.size(); ++c) {
    fmt::format_to(Out(text), "{:<12}{:>22}{:>22}\n", c, ToString(w.pytorch[c].allocated),
                   ToString(w.pytorch[c].reserved));
  }
  return text;
}

std::string StatsJson(const Workload& w, const WorkloadStats& stats) {
  Json out = {
      {"model", w.totals.model_name}, {"layout", w.totals.layout}, {"ranks", w.rank_count()},
      {"programs", w.class_count},    {"ops", stats.ops},          {"flops", stats.flops}};
  out["phases"] = Json::array();
  for (const WorkloadStats::Phased& row : stats.phases) {
    out["phases"].push_back({{"phase", NameOf(row.phase)},
                             {"compute", row.compute},
                             {"collectives", row.collectives},
                             {"sends", row.sends},
                             {"receives", row.receives}});
    if (row.loads + row.stores + row.host_works == 0) continue;
    out["phases"].back().update(
        {{"loads", row.loads}, {"stores", row.stores}, {"host_works", row.host_works}});
  }
  out["compute"] = Json::array();
  for (const WorkloadStats::Compute& row : stats.compute) {
    out["compute"].push_back({{"kind", SubmoduleKindNames()[row.kind]},
                              {"pass", NameOf(row.pass)},
                              {"times", row.times},
                              {"flops", row.flops},
                              {"bytes", row.bytes}});
  }
  out["communication"] = Json::array();
  for (const WorkloadStats::Communication& row : stats.communication) {
    out["communication"].push_back({{"role", row.role},
                                    {"call", NameOf(row.collective)},
                                    {"groups", row.groups},
                                    {"least_members", row.least_members},
                                    {"most_members", row.most_members},
                                    {"calls", row.calls},
                                    {"bytes", row.bytes}});
  }
  if (!stats.transfers.empty()) out["memory"] = Json::array();
  for (const WorkloadStats::Transfers& row : stats.transfers) {
    out["memory"].push_back({{"name", row.name},
                             {"tier", NameOf(row.tier)},
                             {"kind", OpKindName(row.kind)},
                             {"times", row.times},
                             {"bytes", row.bytes}});
  }
  // PyTorch's peaks, by program.
  if (!w.pytorch.empty()) out["pytorch"] = Json::array();
  for (const PyTorchPeaks& peaks : w.pytorch) {
    out["pytorch"].push_back({{"max_memory_allocated", peaks.allocated.count()},
                              {"max_memory_reserved", peaks.reserved.count()}});
  }
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace drydock
