#include "simccl/call_selection.h"

#include <fmt/format.h>

#include <utility>

#include "core/base/cli.h"
#include "core/model/call_words.h"
#include "core/model/rank_list.h"
#include "core/nccl/topology_world.h"
#include "core/schema/cluster_file.h"

namespace drydock {
namespace {

constexpr int64_t kMostBytes = int64_t{1} << 56;  // sums of counts and sizes do not overflow

Result<int64_t> CountOf(Bytes size, const CommCall& call) {
  const int64_t element = SizeOf(call.type).count();
  if (size.count() % element != 0) {
    return Error(fmt::format("{} B are no whole number of elements of {} ({} B each)", size.count(),
                             ToString(call.type), element));
  }
  const int64_t count = size.count() / element;
  if (HasParts(call.collective) && count % call.group_size != 0) {
    return Error(fmt::format(
        "{} elements do not divide among {} members; the nearest size that does is {} B", count,
        call.group_size, (count / call.group_size + 1) * call.group_size * element));
  }
  return count;
}

Status CheckMembers(const CommCall& call, const CallWords& words) {
  const auto check = [&call](const char* what, int member) -> Status {
    if (member < call.group_size) return OkStatus();
    return Error(fmt::format("there is no {} {} in a group of {}", what, member, call.group_size));
  };
  if (call.collective != CollectiveType::kSendRecv) return check("root", words.root);
  RETURN_IF_ERROR(check("sender", words.root));
  RETURN_IF_ERROR(check("receiver", words.peer));
  if (words.root != words.peer) return OkStatus();
  return Error(fmt::format("member {} cannot send to itself", words.root));
}

}  // namespace

std::vector<Placement::Slot> SelectedCall::Slots() const {
  const Placement placement(topology);
  std::vector<Placement::Slot> slots;
  for (const int rank : ranks) slots.push_back(placement.of(rank));
  return slots;
}

void DeclareCallWords(CLI::App* app, CallWords* words) {
  app->add_option("--cluster", words->cluster, "The cluster (cluster.topo)")->type_name("FILE");
  app->add_option("--set", words->overrides,
                  "section.key=value: replaces a value of the cluster file; may be repeated")
      ->allow_extra_args(false);
  app->add_option("--group", words->group,
                  "The communicator's ranks: 0-15, 0,8,16 or 0-63:8. Default: all")
      ->type_name("RANKS");
  app->add_option("--collective", words->collective, "all_reduce, all_gather, alltoall, ...")
      ->type_name("NAME");
  app->add_option("--size", words->size,
                  "Size of the larger of the two buffers: 64MiB, 100 MB; 64M is 64 MiB")
      ->type_name("SIZE");
  app->add_option("--type", words->type, "Data type: bf16, fp16, fp32, ...")
      ->type_name("TYPE")
      ->capture_default_str();
  app->add_option("--op", words->op, "Reduction: sum, max, avg, ...")
      ->type_name("OP")
      ->capture_default_str();
  app->add_option("--root", words->root, "Root, or who sends: a member of the group")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app->add_option("--peer", words->peer, "Who receives (send-recv): a member of the group")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
}

Status CheckCallWords(const CallWords& words) {
  if (words.cluster.empty()) return MissingOption("--cluster");
  if (words.collective.empty()) return MissingOption("--collective");
  if (words.size.empty()) return MissingOption("--size");
  RETURN_IF_ERROR(CheckClusterOverrides(words.overrides));
  ASSIGN_OR_RETURN(const CollectiveType collective, ParseCollective(words.collective));
  if (collective == CollectiveType::kAllToAllV) {
    return Error("the sizes of an all-to-all-v cannot be given here");
  }
  RETURN_IF_ERROR(ParseDataType(words.type));
  RETURN_IF_ERROR(ParseReduceOp(words.op));
  ASSIGN_OR_RETURN(const Bytes size, ParseCallSize(words.size));
  if (size.count() > kMostBytes) {
    return Error(fmt::format("--size {} is more than {} B", words.size, kMostBytes));
  }
  if (!words.group.empty()) RETURN_IF_ERROR(ParseRanks(words.group));
  return OkStatus();
}

Result<SelectedCall> SelectCall(const CallWords& words, const std::string& library_path) {
  SelectedCall selected;
  ASSIGN_OR_RETURN(ClusterInput cluster, LoadCluster(words.cluster, words.overrides));
  RETURN_IF_ERROR(CheckSettings(cluster, library_path));
  selected.topology = std::move(cluster.topology);
  const int gpus = selected.topology.gpu_count();
  const std::string all = fmt::format("0-{}", gpus - 1);
  ASSIGN_OR_RETURN(selected.ranks, ParseRanks(words.group.empty() ? all : words.group));
  RETURN_IF_ERROR(CheckRanks(selected.ranks, gpus));
  CommCall& call = selected.call;
  ASSIGN_OR_RETURN(call.collective, ParseCollective(words.collective));
  ASSIGN_OR_RETURN(call.type, ParseDataType(words.type));
  ASSIGN_OR_RETURN(call.op, ParseReduceOp(words.op));
  call.group_size = static_cast<int>(selected.ranks.size());
  RETURN_IF_ERROR(CheckMembers(call, words));
  call.root = words.root;
  if (call.collective == CollectiveType::kSendRecv) call.peer = words.peer;
  ASSIGN_OR_RETURN(const Bytes size, ParseCallSize(words.size));
  ASSIGN_OR_RETURN(call.count, CountOf(size, call));
  return selected;
}

}  // namespace drydock
