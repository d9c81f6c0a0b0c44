#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/spelling.h"
#include "workload-gen/graph/foreign/import.h"
#include "workload-gen/host/host_memory.h"
#include "workload-gen/work/table_finish.h"

namespace drydock {
namespace {

constexpr size_t kMaxNameBytes = 120;

// Returns all fields in which imported calls can differ.
std::string Key(const CommCall& call) {
  return fmt::format("{} {} {} {} {} {}", static_cast<int>(call.collective),
                     static_cast<int>(call.type), call.count, call.root, call.peer,
                     call.group_size);
}

int64_t RoundedUp(int64_t value, int64_t step) { return (value + step - 1) / step * step; }

}  // namespace

std::string PrintableName(const std::string& name) {
  std::string out;
  for (const char c : name) {
    if (out.size() == kMaxNameBytes) break;
    if (static_cast<unsigned char>(c) >= 0x20 && static_cast<unsigned char>(c) < 0x7f) out += c;
  }
  return out;
}

uint32_t ImportTables::FixedDuration(const std::string& name, Time duration) {
  return Intern({.name = name, .pass = Pass::kNone, .work = submodule::FixedDuration{duration}});
}

uint32_t ImportTables::FlopsAndBytes(const std::string& name, double flops, Bytes bytes,
                                     DataType type) {
  return Intern({.name = name,
                 .pass = Pass::kNone,
                 .type = type,
                 .work = submodule::FlopsAndBytes{},
                 .flops = flops,
                 .bytes = bytes});
}

uint32_t ImportTables::Intern(Submodule submodule) {
  const auto [entry, added] =
      known_.emplace(FactsOf(submodule), static_cast<uint32_t>(submodules_.size()));
  if (added) submodules_.push_back(std::move(submodule));
  return entry->second;
}

uint32_t ImportTables::Call(const CommCall& call) {
  const auto [entry, added] = known_calls_.emplace(Key(call), static_cast<uint32_t>(calls_.size()));
  if (added) calls_.push_back(call);
  return entry->second;
}

uint32_t ImportTables::Transfer(const MemoryTransfer& transfer) {
  const auto [entry, added] = known_transfers_.emplace(
      std::pair(transfer.name, transfer.bytes.count()), static_cast<uint32_t>(transfers_.size()));
  if (added) transfers_.push_back(transfer);
  return entry->second;
}

void ImportTables::MoveTo(Workload* workload) {
  for (uint32_t i = 0; i < submodules_.size(); ++i) {
    workload->blocks.push_back({submodules_[i].name, {i}});
  }
  workload->submodules = std::move(submodules_);
  workload->calls = std::move(calls_);
  workload->transfers = std::move(transfers_);
}

CommCall CallOfBytes(CollectiveType collective, int64_t bytes, int root, int members,
                     const ForeignOptions& options, size_t* rounded) {
  CommCall call;
  call.collective = collective;
  call.root = root;
  call.group_size = members;
  const int64_t parts = HasParts(collective) ? members : 1;
  const int64_t element = SizeOf(options.type).count();
  if (bytes % (element * parts) == 0) {
    call.type = options.type;
    call.count = bytes / element;
    return call;
  }
  call.type = DataType::kUint8;
  call.count = RoundedUp(bytes, parts);
  *rounded += call.count != bytes ? 1 : 0;
  return call;
}

Status FinishImport(const std::string& name, const std::string& format, const Topology& topology,
                    const ForeignOptions& options, Imported* imported) {
  Workload& w = imported->workload;
  const int ranks = w.rank_count(), gpus = topology.gpu_count();
  if (ranks > gpus) {
    return Error(fmt::format("{} has {} ranks, but the cluster has {} GPUs", name, ranks, gpus));
  }
  w.topology = topology;
  if (ranks < gpus) {
    imported->warnings.push_back(
        fmt::format("{} of the cluster's {} GPUs have no rank and stay idle", gpus - ranks, gpus));
    w.class_of_rank.resize(static_cast<size_t>(gpus), w.class_count++);
    Program idle;
    idle.dependency_begin = {0};
    w.programs.push_back(std::move(idle));
    for (std::vector<int>& groups : w.group_of_rank) groups.resize(static_cast<size_t>(gpus), -1);
  }
  CollectUses(&w);
  RETURN_IF_ERROR(FillHostMemory(&w));
  w.totals.model_name = PrintableName(name);
  w.totals.layout = fmt::format("imported from {}, {} ranks", format, ranks);
  w.totals.precision = options.type;
  std::vector<double> flops;  // by class
  for (const Program& program : w.programs) {
    double& sum = flops.emplace_back(0);
    for (const Op& op : program.ops) {
      if (op.kind != OpKind::kCompute) continue;
      for (const uint32_t s : w.blocks[op.work].submodules) sum += w.submodules[s].flops;
    }
  }
  for (const int c : w.class_of_rank) w.totals.hardware_flops += flops[static_cast<size_t>(c)];
  return OkStatus();
}

const std::vector<ForeignFormat>& ForeignFormats() {
  static const std::vector<ForeignFormat> formats = {
      {"chakra", "Chakra execution traces, one per rank (ASTRA-sim, STG, PyTorch)", ImportChakra},
      {"simai", "a SimAI or ASTRA-sim 1 workload file (AICB)", ImportSimai},
      {"aicb", "a physical workload of AICB, or its log (CSV)", ImportAicb},
      {"goal", "a GOAL schedule in text (ATLAHS, LogGOPSim)", ImportGoal}};
  return formats;
}

Result<const ForeignFormat*> FindForeignFormat(const std::string& name) {
  std::vector<std::string> names;
  for (const ForeignFormat& format : ForeignFormats()) {
    if (format.name == name) return &format;
    names.push_back(format.name);
  }
  return Error(fmt::format("there is no format '{}'{}; formats are {}", name,
                           DidYouMean(name, names), Join(names)));
}

}  // namespace drydock
