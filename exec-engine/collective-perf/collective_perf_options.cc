#include "exec-engine/collective-perf/collective_perf_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <utility>

#include "core/model/calls/call_words.h"
#include "core/model/calls/rank_list.h"
#include "exec-engine/collective-perf/dimension_perf.h"
#include "exec-engine/command/choices.h"

namespace drydock {
namespace {

void DeclareSizes(CLI::App* app, CollectivePerfOptions* o) {
  app->add_option("collective", o->collective, "all_reduce, all_gather, alltoall, ...")
      ->type_name("COLLECTIVE");
  app->add_option("-b,--minbytes", o->smallest, "The smallest size: 8, 64K, 32M, 8G")
      ->type_name("SIZE")
      ->capture_default_str();
  app->add_option("-e,--maxbytes", o->largest, "The largest size")
      ->type_name("SIZE")
      ->capture_default_str();
  o->factor_option = app->add_option("-f,--stepfactor", o->factor,
                                     "Factor from one size to the next; 1: adds --stepbytes")
                         ->type_name("N")
                         ->check(CLI::Range(1, 1 << 20))
                         ->capture_default_str();
  app->add_option("-i,--stepbytes", o->increment,
                  "Increment from one size to the next, without -f or with -f 1 (there: 1M)")
      ->type_name("SIZE");
  app->add_option("-d,--datatype", o->type, "float, half, bfloat16, int8, ..., or all")
      ->type_name("TYPE")
      ->capture_default_str();
  app->add_option("-o,--op", o->op, "sum, max, avg, ..., or all")
      ->type_name("OP")
      ->capture_default_str();
  app->add_option("-r,--root", o->root, "Root: a member's index in its group, or all")
      ->type_name("N")
      ->capture_default_str();
  app->add_option("--pairs", o->pairs,
                  "For alltoallv: one line for each member, with what it sends to each member, "
                  "relative to the other numbers")
      ->type_name("FILE");
}

// The loop of nccl-tests. call_loop.h explains its meaning here.
void DeclareLoop(CLI::App* app, CollectivePerfOptions* o) {
  app->add_option("-n,--iters", o->loop.calls, "Calls back to back; the time is their mean")
      ->type_name("N")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  app->add_option(
         "-m,--agg_iters", o->aggregated,
         "Calls between ncclGroupStart and ncclGroupEnd, which NCCL launches together; the "
         "time is that of one")
      ->type_name("N")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app->add_option("-G,--cudagraph", o->graphs,
                  "Launches of a CUDA graph that holds the calls of -n; 0: no graph. The host "
                  "launches no single call then")
      ->type_name("N")
      ->check(CLI::Range(0, 100000))
      ->capture_default_str();
  app->add_option("-z,--blocking", o->blocking,
                  "1 and 3: a call starts when all members have ended the previous one; 2: when "
                  "the process has, which differs from 0 only for launches that take time")
      ->type_name("0-3")
      ->check(CLI::Range(0, 3))
      ->capture_default_str();
  app->add_option("-a,--average", o->rank_time,
                  "Time to report: 0 of the first member, 1 mean, 2 minimum, 3 maximum")
      ->type_name("0-3")
      ->check(CLI::Range(0, 3))
      ->capture_default_str();
  app->add_option("-g,--ngpus", o->process_gpus,
                  "GPUs of a process, whose one thread launches each call on one GPU after another")
      ->type_name("N")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  app->add_option(
         "--launch-us", o->launch_us,
         "Host time of one launch, in microseconds. Default: with -g 2 and more that of "
         "configs/nccl-tests.yaml at the speed of the host's processor; otherwise launches "
         "take no time")
      ->type_name("X")
      ->check(CLI::Range(0.001, 1e6));
  app->add_option("-R,--local_register", o->buffers,
                  "Registered buffers: 1 by ncclCommRegister, 2 as symmetric windows")
      ->type_name("0|1|2")
      ->check(CLI::Range(0, 2))
      ->capture_default_str();
  app->add_option("-x,--cta_policy", o->policy,
                  "NCCL's policy for thread blocks, as the setting NCCL_CTA_POLICY: 0 default, 1 "
                  "efficiency, 2 zero")
      ->type_name("0|1|2")
      ->check(CLI::Range(0, 2));
  o->idle.Declare(app);
}

void DeclareCluster(CLI::App* app, CollectivePerfOptions* o) {
  app->add_option("--cluster", o->cluster, "The cluster (cluster.topo)")->type_name("FILE");
  app->add_option("--astra-network", o->astra_network,
                  "In place of a cluster: a network file of ASTRA-sim, dimension by dimension; "
                  "ASTRA-sim's system layer then makes the messages, not NCCL")
      ->type_name("FILE");
  app->add_option("--astra-system", o->astra_system,
                  "The system file of ASTRA-sim for --astra-network")
      ->type_name("FILE");
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

constexpr int64_t kDefaultIncrement = int64_t{1} << 20;  // nccl-tests'

// nccl-tests' word for all values, one after another.
const char kAll[] = "all";

Status ParseTypes(CollectivePerfOptions* o) {
  using enum DataType;
  using enum ReduceOp;
  Sweep& sweep = o->sweep;
  sweep.types = {kInt8, kUint8, kInt32, kUint32, kInt64, kUint64,
                 kFp16, kFp32,  kFp64,  kBf16,   kFp8,   kFp8E5m2};
  if (o->type != kAll) {
    ASSIGN_OR_RETURN(const DataType type, ParseDataType(o->type));
    sweep.types = {type};
  }
  sweep.ops = {kSum, kProd, kMax, kMin, kAverage, kPremulSum};
  if (o->op != kAll) {
    ASSIGN_OR_RETURN(const ReduceOp op, ParseReduceOp(o->op));
    sweep.ops = {op};
  }
  sweep.roots.clear();
  if (o->root == kAll || o->root == "-1") return OkStatus();
  ASSIGN_OR_RETURN(sweep.roots, ParseRanks(o->root));
  return OkStatus();
}

Status ParseCollectiveAndPairs(CollectivePerfOptions* o) {
  ASSIGN_OR_RETURN(o->sweep.collective, ParseCollective(o->collective));
  const bool has_pairs = o->sweep.collective == CollectiveType::kAllToAllV;
  if (has_pairs && o->pairs.empty()) {
    return Error("alltoallv needs --pairs FILE: what each member sends to each");
  }
  if (!has_pairs && !o->pairs.empty()) return Error("--pairs is for alltoallv only");
  return OkStatus();
}

// Sets the calls, the sizes between them and what nccl-tests' options ask of NCCL.
Status ParseLoop(CollectivePerfOptions* o) {
  o->loop.blocking = o->blocking % 2 == 1 || (o->blocking == 2 && o->launches_take_time());
  o->loop.rank = static_cast<RankTime>(o->rank_time);
  constexpr int kMaxCalls = 100000;
  if (o->graphs > kMaxCalls / o->loop.calls) {
    return Error(fmt::format("-G {} of -n {} calls are more than {} calls", o->graphs,
                             o->loop.calls, kMaxCalls));
  }
  if (o->graphs > 0) o->loop.calls *= o->graphs;
  static constexpr const char* kPolicies[] = {"DEFAULT", "EFFICIENCY", "ZERO"};
  if (o->policy >= 0) {
    o->overrides.push_back(
        fmt::format("nccl.settings.NCCL_CTA_POLICY={}", kPolicies[static_cast<size_t>(o->policy)]));
  }
  return OkStatus();
}

// The table would be endless, or nearly.
Status ParseSteps(CollectivePerfOptions* o) {
  Sweep& sweep = o->sweep;
  ASSIGN_OR_RETURN(sweep.smallest, ParseCallSize(o->smallest));
  ASSIGN_OR_RETURN(sweep.largest, ParseCallSize(o->largest));
  constexpr int64_t kMaxBytes = int64_t{1} << 56;
  if (sweep.largest.count() > kMaxBytes) {
    return Error(fmt::format("-e {} is more than {} B", o->largest, kMaxBytes));
  }
  if (sweep.smallest > sweep.largest) {
    return Error(fmt::format("-b {} is more than -e {}", o->smallest, o->largest));
  }
  // As nccl-tests: a factor above 1 wins over an increment.
  const bool by_factor = o->factor_option->count() > 0 && o->factor > 1;
  if (!o->increment.empty()) {
    ASSIGN_OR_RETURN(sweep.increment, ParseCallSize(o->increment));
    if (by_factor)
      o->idle.Add("-i " + o->increment, fmt::format("-f {} makes the sizes", o->factor));
  }
  sweep.factor = by_factor || o->increment.empty() ? o->factor : 1;
  if (sweep.factor == 1 && o->increment.empty()) sweep.increment = Bytes(kDefaultIncrement);
  return CheckSweepLength(sweep);
}

// Rejects options that need a cluster or NCCL.
Status CheckDimensions(const CollectivePerfOptions& o) {
  if (o.astra_network.empty()) return MissingOption("--astra-network");
  if (o.astra_system.empty()) return MissingOption("--astra-system");
  const GroupChoice& groups = o.groups;
  const std::pair<const char*, bool> others[] = {{"--cluster", !o.cluster.empty()},
                                                 {"--set", !o.overrides.empty()},
                                                 {"--group", !groups.lists.empty()},
                                                 {"--hosts", groups.hosts > 0},
                                                 {"--ranks-per-host", groups.ranks_per_host > 0},
                                                 {"--nccl-library", !o.nccl_library.empty()},
                                                 {"--planner", !o.planner.empty()},
                                                 {"-g", o.process_gpus != 1},
                                                 {"--launch-us", o.launch_us != 0},
                                                 {"-m", o.aggregated != 1},
                                                 {"-x", o.policy >= 0},
                                                 {"-R", o.buffers != 0}};
  for (const auto& [name, given] : others) {
    if (given) return Error(fmt::format("{} and --astra-network exclude each other", name));
  }
  return CheckDimensionCollective(o.sweep.collective);
}

// Finds all mistakes that do not depend on the cluster.
Status ParseOptions(CollectivePerfOptions* o) {
  if (o->network == "help") return OkStatus();
  if (o->collective.empty()) return MissingOption("COLLECTIVE");
  const bool dimensions = !o->astra_network.empty() || !o->astra_system.empty();
  if (o->cluster.empty() && !dimensions) return MissingOption("--cluster");
  RETURN_IF_ERROR(CheckClusterOverrides(o->overrides));
  RETURN_IF_ERROR(ParseCollectiveAndPairs(o));
  if (dimensions) RETURN_IF_ERROR(CheckDimensions(*o));
  RETURN_IF_ERROR(ParseTypes(o));
  RETURN_IF_ERROR(ParseLoop(o));
  o->sweep.buffers = static_cast<BufferKind>(o->buffers);
  RETURN_IF_ERROR(ParseSteps(o));
  for (const std::string& list : o->groups.lists) RETURN_IF_ERROR(ParseRanks(list));
  ASSIGN_OR_RETURN(o->rule, ParseNetworkRule(o->network));
  RETURN_IF_ERROR(ParseThreads(o->threads));
  return OkStatus();
}

}  // namespace

void DeclareCollectivePerf(CLI::App* app, CollectivePerfOptions* o, const CommonOptions&) {
  DeclareSizes(app, o);
  DeclareLoop(app, o);
  DeclareCluster(app, o);
  app->add_option("--network", o->network,
                  "The network between hosts: a network or auto ('help' lists them), or "
                  "auto:SIZE for packets below SIZE and analytical from there")
      ->type_name("NAME")
      ->capture_default_str();
  app->add_option("--threads", o->threads,
                  "Threads of the network, or 'auto' for the idle cores; never changes the result")
      ->type_name("N")
      ->capture_default_str();
  app->add_option("--planner", o->planner,
                  "Who plans the calls: nccl (default), or custom:FILE, an algorithm of MSCCL")
      ->type_name("NAME");
  app->add_option("--nccl-library", o->nccl_library, "Another libhacknccl.so")->type_name("FILE");
  app->add_flag("--json", o->json, "Print JSON instead of the table");
  app->add_option("-J,--output_file", o->output,
                  "Write nccl-tests' JSON (version 3 of its format) to this file, too")
      ->type_name("FILE");
  CheckOptions(app, [o] { return ParseOptions(o); });
}

}  // namespace drydock
