// Imports Chakra traces of other tools, one per rank.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/base/files.h"
#include "core/base/spelling.h"
#include "workload-gen/graph/foreign/chakra_trace_reader.h"
#include "workload-gen/graph/foreign/import.h"
#include "workload-gen/graph/foreign/trace_folder.h"

namespace drydock {
namespace {

constexpr int64_t kMaxBufferBytes = int64_t{1} << 50;

// A collective with an unresolved group: rank, op, name of the group.
struct OpenGroup {
  size_t rank = 0;
  uint32_t op = 0;
  std::string name;
};

class ChakraImport {
 public:
  ChakraImport(const TraceFolder& folder, const ForeignOptions& options)
      : folder_(folder), options_(options), rank_count_(static_cast<int>(folder.paths.size())) {
    job_.name = BaseName(folder.prefix);
    job_.format = "Chakra traces";
  }

  Status ReadGroups(const std::string& given) {
    const std::string path = given.empty() ? folder_.prefix + ".json" : given;
    if (given.empty() && !FileExists(path)) return OkStatus();
    ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
    ASSIGN_OR_RETURN(groups_, ParseGroupFile(text, path, rank_count_));
    return OkStatus();
  }

  Status ReadTraces() {
    size_t ops = 0;
    for (int rank = 0; rank < rank_count_; ++rank) {
      const std::string& path = folder_.paths[static_cast<size_t>(rank)];
      ASSIGN_OR_RETURN(const std::string content, ReadFile(path));
      ChakraTraceReader reader(path, rank, rank_count_, ops, options_, &groups_, &job_.tables,
                               &counts_);
      RETURN_IF_ERROR(reader.Read(content));
      for (const auto& [op, name] : reader.group_names()) {
        open_.push_back({static_cast<size_t>(rank), op, name});
      }
      job_.ranks.push_back(reader.TakeRank());
      ops += job_.ranks.back().ops.size();
    }
    return OkStatus();
  }

  Status ResolveGroups() {
    std::map<std::string, int> index;
    for (const OpenGroup& open : open_) {
      if (index.count(open.name) == 0) {
        ASSIGN_OR_RETURN(index[open.name], AddGroup(open));
      }
      RETURN_IF_ERROR(Resolve(open, index[open.name]));
    }
    return OkStatus();
  }

  Result<Imported> Finish(const Topology& topology) {
    ASSIGN_OR_RETURN(Imported imported, AssembleWorkload(std::move(job_), topology, options_));
    AddWarnings(&imported.warnings);
    return imported;
  }

 private:
  Error Fail(const OpenGroup& open, const std::string& what) const {
    return Error(fmt::format("node {}: {}", job_.ranks[open.rank].ops[open.op].id, what),
                 {folder_.paths[open.rank], 0, 0});
  }

  Result<int> AddGroup(const OpenGroup& open) {
    Group group;
    const auto found = groups_.find(open.name);
    if (found != groups_.end()) {
      group.ranks = found->second;
    } else if (open.name.empty()) {
      group.ranks.resize(static_cast<size_t>(rank_count_));
      std::iota(group.ranks.begin(), group.ranks.end(), 0);
    } else {
      std::vector<std::string> names;
      for (const auto& [name, ranks] : groups_) names.push_back(PrintableName(name));
      if (names.empty()) {
        return Fail(open, fmt::format("the ranks of its group '{}' are unknown: there is no "
                                      "{}.json and no metadata with groups (--groups FILE)",
                                      PrintableName(open.name), BaseName(folder_.prefix)));
      }
      return Fail(open, fmt::format("there is no group '{}'{}", PrintableName(open.name),
                                    DidYouMean(PrintableName(open.name), names)));
    }
    job_.groups.push_back(std::move(group));
    return static_cast<int>(job_.groups.size()) - 1;
  }

  Status Resolve(const OpenGroup& open, int index) {
    ForeignOp& op = job_.ranks[open.rank].ops[open.op];
    const std::vector<int>& ranks = job_.groups[static_cast<size_t>(index)].ranks;
    const auto own = std::find(ranks.begin(), ranks.end(), static_cast<int>(open.rank));
    if (own == ranks.end()) {
      return Fail(open, fmt::format("the rank is not in its group '{}'", PrintableName(open.name)));
    }
    if (op.kind != OpKind::kCollective) return ResolvePeer(open, ranks, &op);
    op.group = index;
    if (HasRoot(op.collective) && op.root > 0) {  // a rank, not a member
      const auto root = std::find(ranks.begin(), ranks.end(), op.root);
      if (root == ranks.end()) {
        return Fail(open, fmt::format("its root, rank {}, is not in its group", op.root));
      }
      op.root = static_cast<int32_t>(root - ranks.begin());
    }
    // Chakra states one rank's part; CommCall counts the whole buffer.
    if (op.collective == CollectiveType::kAllGather) {
      const auto members = static_cast<int64_t>(ranks.size());
      if (op.bytes > kMaxBufferBytes / members) return Fail(open, "it gathers over 2^50 bytes");
      op.bytes *= members;
    }
    if (ranks.size() > 1 && op.bytes > 0) return OkStatus();
    ++(ranks.size() > 1 ? zero_bytes_ : alone_);
    op.kind = OpKind::kCompute;
    op.lane = 1;
    op.block = job_.tables.FixedDuration(
        ranks.size() > 1 ? "empty collective" : "collective of one rank", Time());
    return OkStatus();
  }

  // A message without a peer, which its group states if it is a pair.
  Status ResolvePeer(const OpenGroup& open, const std::vector<int>& ranks, ForeignOp* op) const {
    if (op->kind == OpKind::kCompute) return OkStatus();  // an empty message
    if (ranks.size() != 2) {
      return Fail(open, fmt::format("its group '{}' has {} ranks, so it needs a {}: the other rank",
                                    PrintableName(open.name), ranks.size(),
                                    op->kind == OpKind::kSend ? "comm_dst" : "comm_src"));
    }
    op->peer = ranks[0] == static_cast<int>(open.rank) ? ranks[1] : ranks[0];
    return OkStatus();
  }

  void AddWarnings(std::vector<std::string>* out) const {
    const auto add = [out](size_t count, const char* what) {
      if (count > 0) out->push_back(fmt::format("{} {}", count, what));
    };
    add(counts_.counted,
        "compute ops state no duration: they take the longer of num_ops at the GPU's dense "
        "rate and tensor_size at its memory bandwidth");
    add(counts_.empty, "ops state no duration, no operations and no bytes: they take no time");
    add(zero_bytes_, "collectives of 0 bytes communicate nothing and take no time");
    add(alone_, "collectives of one rank communicate nothing and take no time");
    add(counts_.barriers, "barriers are all-reduces of 4 bytes, as PyTorch makes them over NCCL");
    if (options_.tier == MemoryTier::kHost) {
      add(counts_.memory_ops,
          "loads and stores use the host's memory, because the cluster has no remote memory");
    }
    add(counts_.host_calls,
        "collectives of the host's side state no comm_type: they are work of the host, and the "
        "kernels communicate");
    add(counts_.callers,
        "control dependencies of operators of PyTorch state who calls whom, and no order: they "
        "are ignored, as by Chakra's feeder");
    add(counts_.timed_calls,
        "communication ops state a duration, which is ignored: the network model computes it");
  }

  const TraceFolder& folder_;
  const ForeignOptions& options_;
  const int rank_count_;
  ForeignJob job_;
  NamedGroups groups_;
  ChakraCounts counts_;
  std::vector<OpenGroup> open_;
  size_t zero_bytes_ = 0, alone_ = 0;
};

}  // namespace

Result<Imported> ImportChakra(const ImportInput& input, const Topology& topology,
                              const ForeignOptions& options) {
  ASSIGN_OR_RETURN(const TraceFolder folder, FindTraces(input.place));
  ForeignOptions own = options;
  const auto& kinds = topology.host_kinds;
  const bool remote = std::all_of(kinds.begin(), kinds.end(), [](const HostKind& kind) {
    return kind.memory.remote.sharing != RemoteSharing::kNone;
  });
  own.tier = remote ? MemoryTier::kRemote : MemoryTier::kHost;
  if (folder.paths.size() > static_cast<size_t>(topology.gpu_count())) {
    return Error(fmt::format("there are traces of {} ranks, but the cluster has {} GPUs",
                             folder.paths.size(), topology.gpu_count()),
                 {folder.prefix, 0, 0});
  }
  ChakraImport import(folder, own);
  RETURN_IF_ERROR(import.ReadGroups(input.groups));
  RETURN_IF_ERROR(import.ReadTraces());
  RETURN_IF_ERROR(import.ResolveGroups());
  return import.Finish(topology);
}

}  // namespace drydock
