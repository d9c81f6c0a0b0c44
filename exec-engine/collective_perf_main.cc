// collective-perf: nccl-tests on a cluster that need not exist. Parses flags; the work is in
// collective_perf.h.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

#include "core/base/cli.h"
#include "core/model/call_words.h"
#include "core/model/rank_list.h"
#include "exec-engine/choices.h"
#include "exec-engine/collective_perf.h"

namespace drydock {
namespace {

const ToolInfo kInfo = {
    "collective-perf",
    "How long a collective takes for a range of sizes, in nccl-tests' own columns.",
    "reads cluster.topo (docs/cluster.md); prints a table; runs simccl, which lies beside it, on a "
    "temporary run directory",
    "collective-perf all_reduce -b 8 -e 8G -f 2 --cluster configs/clusters/dgx-h100-8.topo", false};

// As typed; `sweep` and `network` as understood.
struct Options {
  std::string collective, cluster;
  std::string smallest = "32M", largest = "32M", increment, type = "float", op = "sum";
  std::string network = "auto:64M", threads = "auto", nccl_library;
  std::vector<std::string> overrides;
  int64_t factor = 2;
  GroupChoice groups;
  bool json = false;
  Sweep sweep;
  NetworkRule rule;
};

void DeclareSizes(CLI::App* app, Options* o) {
  app->add_option("collective", o->collective, "all_reduce, all_gather, alltoall, ...")
      ->type_name("COLLECTIVE");
  app->add_option("-b,--minbytes", o->smallest, "The smallest size: 8, 64K, 32M, 8G")
      ->type_name("SIZE")
      ->capture_default_str();
  app->add_option("-e,--maxbytes", o->largest, "The largest size")
      ->type_name("SIZE")
      ->capture_default_str();
  auto* factor = app->add_option("-f,--stepfactor", o->factor, "Each size is this times the last")
                     ->type_name("N")
                     ->check(CLI::Range(2, 1 << 20))
                     ->capture_default_str();
  app->add_option("-i,--stepbytes", o->increment, "Each size is this more than the last")
      ->type_name("SIZE")
      ->excludes(factor);
  app->add_option("-d,--datatype", o->type, "float, half, bfloat16, int8, ...")
      ->type_name("TYPE")
      ->capture_default_str();
  app->add_option("-o,--op", o->op, "sum, max, avg, ...")->type_name("OP")->capture_default_str();
  app->add_option("-r,--root", o->sweep.root, "Root, as a member of its group")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
}

void DeclareCluster(CLI::App* app, Options* o) {
  app->add_option("--cluster", o->cluster, "The cluster (cluster.topo)")->type_name("FILE");
  app->add_option("--set", o->overrides,
                  "section.key=value: replaces a value of the cluster file; may be repeated")
      ->allow_extra_args(false);
  auto* group = app->add_option("--group", o->groups.lists,
                                "Ranks of one communicator: 0-15, 0,8,16 or 0-63:8; may be "
                                "repeated, and then all run at once. Default: all ranks")
                    ->type_name("RANKS")
                    ->allow_extra_args(false);
  app->add_option("--shift", o->groups.shift,
                  "Each --group N times at once, moved up by 0, 1, ... N-1 ranks: '--group 0-63:8 "
                  "--shift 8' are all groups of GPUs with the same number")
      ->type_name("N")
      ->check(CLI::Range(1, 1 << 20))
      ->needs(group)
      ->capture_default_str();
  app->add_option("--hosts", o->groups.hosts, "The first N hosts instead of all")
      ->type_name("N")
      ->check(CLI::PositiveNumber)
      ->excludes(group);
  app->add_option("--ranks-per-host", o->groups.ranks_per_host, "Only each host's first N GPUs")
      ->type_name("N")
      ->check(CLI::PositiveNumber)
      ->excludes(group);
}

// What is wrong whatever the cluster is.
Status Understand(Options* o) {
  if (o->network == "help") return OkStatus();
  if (o->collective.empty()) return MissingOption("COLLECTIVE");
  if (o->cluster.empty()) return MissingOption("--cluster");
  Sweep& sweep = o->sweep;
  ASSIGN_OR_RETURN(sweep.collective, ParseCollective(o->collective));
  if (sweep.collective == CollectiveType::kSendRecv) {
    return Error("collective-perf times collectives; send-recv is none");
  }
  if (sweep.collective == CollectiveType::kAllToAllV) {
    return Error("an all-to-all-v needs the elements of each pair, which have no option here");
  }
  ASSIGN_OR_RETURN(sweep.type, ParseDataType(o->type));
  ASSIGN_OR_RETURN(sweep.op, ParseReduceOp(o->op));
  ASSIGN_OR_RETURN(sweep.smallest, ParseCallSize(o->smallest));
  ASSIGN_OR_RETURN(sweep.largest, ParseCallSize(o->largest));
  sweep.factor = o->factor;
  if (!o->increment.empty()) {
    ASSIGN_OR_RETURN(sweep.increment, ParseCallSize(o->increment));
    sweep.factor = 1;
  }
  constexpr int64_t kMostBytes = int64_t{1} << 56;
  if (sweep.largest.count() > kMostBytes) {
    return Error(fmt::format("-e {} is more than {} B", o->largest, kMostBytes));
  }
  if (sweep.smallest > sweep.largest) {
    return Error(fmt::format("-b {} is more than -e {}", o->smallest, o->largest));
  }
  for (const std::string& list : o->groups.lists) RETURN_IF_ERROR(ParseRanks(list));
  ASSIGN_OR_RETURN(o->rule, ParseNetworkRule(o->network));
  RETURN_IF_ERROR(ParseThreads(o->threads));
  return OkStatus();
}

void Declare(CLI::App* app, Options* o) {
  DeclareSizes(app, o);
  DeclareCluster(app, o);
  app->add_option("--network", o->network,
                  "What carries bytes between hosts: a network ('help' lists them), or auto:SIZE "
                  "for packets below SIZE and analytical from there")
      ->type_name("NAME")
      ->capture_default_str();
  app->add_option("--threads", o->threads,
                  "Threads of the network, or 'auto' for the idle cores; never changes the result")
      ->type_name("N")
      ->capture_default_str();
  app->add_option("--nccl-library", o->nccl_library, "Another libhacknccl.so")->type_name("FILE");
  app->add_flag("--json", o->json, "Print JSON instead of the table");
  CheckOptions(app, [o] { return Understand(o); });
}

std::string GroupsText(const std::vector<Group>& groups) {
  std::string text =
      fmt::format("{} ranks: {}", groups[0].ranks.size(), RanksText(groups[0].ranks));
  if (groups.size() > 1) text += fmt::format("; {} groups at once", groups.size());
  return text;
}

Result<CollectivePerf> Prepare(const Options& o, const CommonOptions& common, Sweep sweep) {
  CollectivePerf perf;
  ASSIGN_OR_RETURN(perf.cluster, LoadCluster(o.cluster, o.overrides));
  ASSIGN_OR_RETURN(perf.groups, ChooseGroups(o.groups, perf.cluster.topology));
  sweep.group_size = static_cast<int>(perf.groups[0].ranks.size());
  if (sweep.root >= sweep.group_size) {
    return Error(fmt::format("there is no root {} in a group of {}", sweep.root, sweep.group_size));
  }
  perf.sizes = SizesOf(sweep);
  perf.network = o.rule;
  ASSIGN_OR_RETURN(perf.threads, ParseThreads(o.threads));
  if (!o.nccl_library.empty()) perf.simccl_arguments = {"--nccl-library", o.nccl_library};
  if (!common.quiet && ::isatty(STDERR_FILENO) == 1) {
    perf.progress = [](size_t done, size_t of, int64_t percent) {
      Say(fmt::format("\r{}: size {} of {}, {} % ", kInfo.name, done + 1, of, percent));
    };
  }
  return perf;
}

Status Run(const Options& o, const CommonOptions& common) {
  if (o.network == "help") {
    fmt::print("{}{:<12} {}\n", NetworksText(), "auto:SIZE",
               "packet for calls below SIZE, analytical from there");
    return OkStatus();
  }
  ASSIGN_OR_RETURN(const CollectivePerf perf, Prepare(o, common, o.sweep));
  const SweepTitle title = {
      fmt::format("{} on {}, {}", CollectiveTypeNames()[static_cast<size_t>(o.sweep.collective)],
                  perf.cluster.topology.name, GroupsText(perf.groups)),
      perf.network.Text()};
  std::vector<SweepResult> results;
  if (!o.json && !common.check) fmt::print("{}", TableHeader(title));
  RETURN_IF_ERROR(RunCollectivePerf(perf, common.check, [&](const SweepResult& result) {
    if (perf.progress) Say(fmt::format("\r{:48}\r", ""));
    results.push_back(result);
    if (o.json) return;
    fmt::print("{}", TableRow(result, common.verbose));
    std::fflush(stdout);
  }));
  if (common.check) return OkStatus();
  fmt::print("{}", o.json ? SweepJson(title, results) : TableFooter(results));
  return OkStatus();
}

}  // namespace
}  // namespace drydock

int main(int argc, char** argv) {
  drydock::Options options;
  drydock::CommonOptions common;
  return drydock::RunTool(
      argc, argv, drydock::kInfo, &common, [&](CLI::App* app) { drydock::Declare(app, &options); },
      [&] { return drydock::Run(options, common); });
}
