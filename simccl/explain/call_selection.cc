#include "simccl/explain/call_selection.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <utility>

#include "core/base/cli.h"
#include "core/base/plural.h"
#include "core/model/calls/call_words.h"
#include "core/model/calls/grouped_call.h"
#include "core/model/calls/rank_list.h"
#include "core/nccl/topology_world.h"
#include "core/schema/cluster/cluster_file.h"

namespace drydock {
namespace {

constexpr int64_t kMaxBytes = int64_t{1} << 56;  // so that sums of counts and sizes do not overflow

Result<int64_t> CountOf(Bytes size, const CommCall& call) {
  const int64_t element = SizeOf(call.type).count();
  if (size.count() % element != 0) {
    return Error(fmt::format("{} B are not a whole number of elements of {} ({} B each)",
                             size.count(), ToString(call.type), element));
  }
  const int64_t count = size.count() / element;
  if (HasParts(call.collective) && count % call.group_size != 0) {
    return Error(fmt::format(
        "{} elements do not divide among {} members; the nearest size that does is {} B", count,
        call.group_size, (count / call.group_size + 1) * call.group_size * element));
  }
  return count;
}

// Returns the value for call number `i`.
template <typename T>
const T& Nth(const std::vector<T>& options, size_t i) {
  return options.size() == 1 ? options.front() : options[i];
}

Status CheckMembers(const CommCall& call, int root, int peer) {
  const auto check = [&call](const char* what, int member) -> Status {
    if (member < call.group_size) return OkStatus();
    return Error(fmt::format("there is no {} {} in a group of {}", what, member, call.group_size));
  };
  if (call.collective != CollectiveType::kSendRecv) return check("root", root);
  RETURN_IF_ERROR(check("sender", root));
  RETURN_IF_ERROR(check("receiver", peer));
  if (root != peer) return OkStatus();
  return Error(fmt::format("member {} cannot send to itself", root));
}

Result<CommCall> CallOf(const CallOptions& options, size_t i, int group_size) {
  CommCall call;
  ASSIGN_OR_RETURN(call.collective, ParseCollective(options.collectives[i]));
  ASSIGN_OR_RETURN(call.type, ParseDataType(Nth(options.types, i)));
  ASSIGN_OR_RETURN(call.op, ParseReduceOp(Nth(options.ops, i)));
  ASSIGN_OR_RETURN(call.buffers, ParseBufferKind(Nth(options.buffers, i)));
  call.group_size = group_size;
  const int root = Nth(options.roots, i), peer = Nth(options.peers, i);
  RETURN_IF_ERROR(CheckMembers(call, root, peer));
  call.root = root;
  if (call.collective == CollectiveType::kSendRecv) call.peer = peer;
  ASSIGN_OR_RETURN(const Bytes size, ParseCallSize(options.sizes[i]));
  ASSIGN_OR_RETURN(call.count, CountOf(size, call));
  return call;
}

// Adds an option that may be given once per call.
template <typename T>
CLI::Option* AddEach(CLI::App* app, const char* name, std::vector<T>* options, const char* help,
                     const char* type) {
  return app->add_option(name, *options, help)->type_name(type)->allow_extra_args(false);
}

template <typename T>
Status CheckCount(const char* name, const std::vector<T>& options, size_t calls) {
  if (options.size() == 1 || options.size() == calls) return OkStatus();
  return Error(fmt::format("{} is given {} for {}; give it once, or for each", name,
                           Plural(options.size(), "time"), Plural(calls, "call")));
}

}  // namespace

std::vector<Placement::Slot> SelectedCall::Slots() const {
  const Placement placement(topology);
  std::vector<Placement::Slot> slots;
  for (const int rank : ranks) slots.push_back(placement.of(rank));
  return slots;
}

void DeclareCallOptions(CLI::App* app, CallOptions* options) {
  app->add_option("--cluster", options->cluster, "The cluster (cluster.topo)")->type_name("FILE");
  app->add_option("--set", options->overrides,
                  "section.key=value: replaces a value of the cluster file; may be repeated")
      ->allow_extra_args(false);
  app->add_option("--group", options->group,
                  "The communicator's ranks: 0-15, 0,8,16 or 0-63:8. Default: all")
      ->type_name("RANKS");
  AddEach(
      app, "--collective", &options->collectives,
      "all_reduce, all_gather, alltoall, ...; several calls, each with its --size, form one group",
      "NAME");
  AddEach(app, "--size", &options->sizes,
          "Size of the larger of the two buffers: 64MiB, 100 MB; 64M is 64 MiB", "SIZE");
  AddEach(app, "--type", &options->types, "Data type: bf16, fp16, fp32, ...", "TYPE")
      ->capture_default_str();
  AddEach(app, "--op", &options->ops, "Reduction: sum, max, avg, ...", "OP")->capture_default_str();
  AddEach(app, "--buffers", &options->buffers,
          "How the buffers are registered with NCCL: plain (not), registered (ncclCommRegister), "
          "symmetric (ncclCommWindowRegister); userbuffers: the call bypasses NCCL",
          "KIND")
      ->capture_default_str();
  AddEach(app, "--root", &options->roots,
          "The root, or the sender of a send-recv: a member of the group", "N")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  AddEach(app, "--peer", &options->peers, "The receiver of a send-recv: a member of the group", "N")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
}

Status CheckCallOptions(const CallOptions& options) {
  if (options.cluster.empty()) return MissingOption("--cluster");
  if (options.collectives.empty()) return MissingOption("--collective");
  if (options.sizes.empty()) return MissingOption("--size");
  RETURN_IF_ERROR(CheckClusterOverrides(options.overrides));
  const size_t calls = options.collectives.size();
  if (options.sizes.size() != calls) {
    return Error(fmt::format("--size is given {} for {}; each needs its own",
                             Plural(options.sizes.size(), "time"), Plural(calls, "call")));
  }
  RETURN_IF_ERROR(CheckCount("--type", options.types, calls));
  RETURN_IF_ERROR(CheckCount("--op", options.ops, calls));
  RETURN_IF_ERROR(CheckCount("--buffers", options.buffers, calls));
  RETURN_IF_ERROR(CheckCount("--root", options.roots, calls));
  RETURN_IF_ERROR(CheckCount("--peer", options.peers, calls));
  int64_t total = 0;
  for (size_t i = 0; i < calls; ++i) {
    ASSIGN_OR_RETURN(const CollectiveType collective, ParseCollective(options.collectives[i]));
    if (collective == CollectiveType::kAllToAllV) {
      return Error("an all-to-all-v cannot be given here: it needs the size of each pair");
    }
    RETURN_IF_ERROR(ParseDataType(Nth(options.types, i)));
    RETURN_IF_ERROR(ParseReduceOp(Nth(options.ops, i)));
    RETURN_IF_ERROR(ParseBufferKind(Nth(options.buffers, i)));
    ASSIGN_OR_RETURN(const Bytes size, ParseCallSize(options.sizes[i]));
    if (size.count() > kMaxBytes - total) {
      return Error(fmt::format("--size {} is more than {} B", options.sizes[i], kMaxBytes - total));
    }
    total += size.count();
  }
  if (!options.group.empty()) RETURN_IF_ERROR(ParseRanks(options.group));
  return OkStatus();
}

Result<SelectedCall> SelectCall(const CallOptions& options, const std::string& library_path) {
  SelectedCall selected;
  ASSIGN_OR_RETURN(ClusterInput cluster, LoadCluster(options.cluster, options.overrides));
  RETURN_IF_ERROR(CheckSettings(cluster, library_path));
  selected.topology = std::move(cluster.topology);
  const int gpus = selected.topology.gpu_count();
  const std::string all = fmt::format("0-{}", gpus - 1);
  ASSIGN_OR_RETURN(selected.ranks, ParseRanks(options.group.empty() ? all : options.group));
  RETURN_IF_ERROR(PlacedIn("--group " + options.group, CheckRanks(selected.ranks, gpus)));
  std::vector<CommCall> calls;
  for (size_t i = 0; i < options.collectives.size(); ++i) {
    ASSIGN_OR_RETURN(CommCall call, CallOf(options, i, static_cast<int>(selected.ranks.size())));
    calls.push_back(std::move(call));
  }
  selected.call = calls.size() == 1 ? calls.front() : MakeGrouped(std::move(calls));
  return selected;
}

}  // namespace drydock
