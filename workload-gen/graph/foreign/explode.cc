#include "workload-gen/graph/foreign/explode.h"

#include <fmt/format.h>

#include <filesystem>
#include <numeric>

#include "core/base/files.h"
#include "core/model/calls/grouped_call.h"
#include "core/schema/artefacts/rank_trace_file.h"

namespace drydock {
namespace {

// Returns the time of each block, or Time::Max() if the time of one of its submodules is unknown.
std::vector<Time> BlockTimes(const Workload& w, const GpuKernelTimes* times) {
  std::vector<Time> of_block;
  for (const ComputeBlock& block : w.blocks) {
    Time total;
    bool known = true;
    for (const uint32_t s : block.submodules) {
      if (times != nullptr) {
        total += times->submodules[s].total;
      } else if (const auto* fixed = w.submodules[s].As<submodule::FixedDuration>()) {
        total += fixed->duration;
      } else {
        known = false;
      }
    }
    of_block.push_back(known ? total : Time::Max());
  }
  return of_block;
}

// Returns the facts that Chakra cannot express, counted over the distinct calls.
std::vector<std::string> LossesOf(const Workload& w) {
  size_t grouped = 0, among_some = 0, uneven = 0;
  for (const CommCall& call : w.calls) {
    const bool is_grouped = call.collective == CollectiveType::kGrouped;
    grouped += is_grouped ? 1 : 0;
    among_some += is_grouped && InvolvesSubset(call) ? 1 : 0;
    uneven += call.collective == CollectiveType::kAllToAllV ? 1 : 0;
  }
  std::vector<std::string> out;
  if (grouped > 0) {
    out.push_back(
        fmt::format("{} distinct groups of calls are one collective each, named after "
                    "their largest part",
                    grouped));
  }
  if (among_some > 0) {
    out.push_back(
        fmt::format("{} of them have messages among some of the members only; ASTRA-sim "
                    "waits for all of them",
                    among_some));
  }
  if (uneven > 0) {
    out.push_back(
        fmt::format("{} distinct uneven all-to-alls are even ones of the largest buffer", uneven));
  }
  return out;
}

Status CheckFolder(const std::string& dir) {
  std::error_code error;
  if (!std::filesystem::exists(dir, error)) return OkStatus();
  if (!std::filesystem::is_directory(dir, error)) {
    return Error("this is not a folder", {dir, 0, 0});
  }
  if (!std::filesystem::is_empty(dir, error)) {
    return Error("the folder is not empty; name an empty folder, or one that does not exist",
                 {dir, 0, 0});
  }
  return OkStatus();
}

}  // namespace

std::string GroupsText(const Workload& workload) {
  std::string text = "{";
  for (size_t g = 0; g < workload.groups.size(); ++g) {
    text += fmt::format("{}\n\"{}\": [", g == 0 ? "" : ",", g + 1);
    const std::vector<int>& ranks = workload.groups[g].ranks;
    for (size_t m = 0; m < ranks.size(); ++m) {
      text += m == 0 ? "" : ", ";
      text += std::to_string(ranks[m]);
    }
    text += "]";
  }
  return text + "\n}\n";
}

Result<Exploded> Explode(const Workload& workload, const KernelTimes* times,
                         const ExplodedTables& tables, const std::string& dir,
                         const ExplodeOptions& options) {
  RETURN_IF_ERROR(CheckFolder(dir));
  std::vector<int> ranks = options.ranks;
  if (ranks.empty()) {
    ranks.resize(workload.class_of_rank.size());
    std::iota(ranks.begin(), ranks.end(), 0);
  }
  std::vector<std::vector<Time>> block_times;  // by GPU type
  for (size_t gpu = 0; gpu < workload.topology.gpus.size(); ++gpu) {
    block_times.push_back(BlockTimes(workload, times == nullptr ? nullptr : &times->gpus[gpu]));
  }
  const Placement placement(workload.topology);
  RETURN_IF_ERROR(MakeDirectories(DirectoryOf(dir)));
  ASSIGN_OR_RETURN(StagedDirectory folder, StagedDirectory::Create(dir));
  Exploded exploded;
  for (const int rank : ranks) {
    const auto gpu =
        static_cast<size_t>(workload.topology.kind_of_host(placement.of(rank).host).gpu);
    const std::string trace = EncodeRankTrace(workload, rank, block_times[gpu]);
    RETURN_IF_ERROR(folder.Write(fmt::format("{}.{}.et", options.prefix, rank), trace));
    const int own = workload.class_of_rank[static_cast<size_t>(rank)];
    exploded.nodes += workload.programs[static_cast<size_t>(own)].ops.size();
    exploded.bytes += static_cast<int64_t>(trace.size());
    if (++exploded.files % 256 == 0 && options.progress) {
      options.progress(exploded.files, ranks.size());
    }
  }
  RETURN_IF_ERROR(folder.Write(options.prefix + ".json", GroupsText(workload)));
  RETURN_IF_ERROR(folder.Write(kExplodedManifest, tables.manifest));
  RETURN_IF_ERROR(folder.Write(kExplodedTopology, tables.topology));
  RETURN_IF_ERROR(folder.Commit());
  exploded.warnings = LossesOf(workload);
  return exploded;
}

}  // namespace drydock
