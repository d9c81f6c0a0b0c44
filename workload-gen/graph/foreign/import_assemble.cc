// Builds a Workload from a foreign job: roles, streams, programs and classes.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "workload-gen/graph/foreign/import.h"
#include "workload-gen/graph/foreign/import_order.h"
#include "workload-gen/graph/foreign/program_classes.h"

namespace drydock {
namespace {

// The limits of an op's indices.
constexpr size_t kMaxRoles = 255, kMaxStreams = 255;

// Returns the distance between neighbors in a group, or 0 if it varies.
int StrideOf(const std::vector<int>& ranks) {
  if (ranks.size() < 2) return 0;
  const int stride = ranks[1] - ranks[0];
  for (size_t m = 2; m < ranks.size(); ++m) {
    if (ranks[m] - ranks[m - 1] != stride) return 0;
  }
  return stride;
}

// The shape of a group: size, stride, and its index among the rank's groups of that size and
// stride.
using GroupShape = std::tuple<size_t, int, int>;

std::string NameOfShape(const GroupShape& shape) {
  const auto [size, stride, which] = shape;
  std::string name =
      stride == 0 ? fmt::format("{}xmixed", size) : fmt::format("{}x{}", size, stride);
  if (which > 0) name += fmt::format("#{}", which + 1);
  return name;
}

class Assembly {
 public:
  Assembly(ForeignJob job, const Topology& topology, const ForeignOptions& options)
      : job_(std::move(job)), topology_(topology), options_(options) {}

  Result<Imported> Run() {
    const GpuSpec& gpu = topology_.gpus[static_cast<size_t>(topology_.kind_of_host(0).gpu)];
    const std::vector<std::vector<uint32_t>> order = OrderOps(job_, gpu);
    Workload& w = imported_.workload;
    w.groups = job_.groups;
    FindCollectiveRoles();
    FindMessageRoles();
    if (w.roles.size() > kMaxRoles) {
      return Error(
          fmt::format("{}: its groups and peers need {} roles, but a workload has at most "
                      "{}",
                      job_.name, w.roles.size(), kMaxRoles));
    }
    RETURN_IF_ERROR(NameStreams());
    std::vector<Program> programs;
    for (size_t rank = 0; rank < job_.ranks.size(); ++rank) {
      programs.push_back(MakeProgram(rank, order[rank]));
      job_.ranks[rank] = ForeignRank();
    }
    job_.tables.MoveTo(&w);
    ProgramClasses classes(&w);
    for (Program& program : programs) classes.Add(std::move(program));
    if (rounded_ > 0) {
      imported_.warnings.push_back(
          fmt::format("{} collectives have buffers that their members cannot share evenly; they "
                      "were made larger by less than a byte a member",
                      rounded_));
    }
    RETURN_IF_ERROR(FinishImport(job_.name, job_.format, topology_, options_, &imported_));
    return std::move(imported_);
  }

 private:
  uint8_t AddRole(const std::string& name, Dimension dimension) {
    Workload& w = imported_.workload;
    w.roles.push_back({name, dimension});
    w.group_of_rank.emplace_back(job_.ranks.size(), -1);
    return static_cast<uint8_t>(w.roles.size() - 1);
  }

  // Numbers a rank's groups of equal size and stride by their first use.
  void FindCollectiveRoles() {
    std::vector<int> strides;
    for (const Group& group : job_.groups) strides.push_back(StrideOf(group.ranks));
    std::map<GroupShape, std::vector<std::pair<size_t, int>>> users;  // rank, group
    for (size_t rank = 0; rank < job_.ranks.size(); ++rank) {
      std::map<std::pair<size_t, int>, int> count;
      std::map<int, bool> seen;
      for (const ForeignOp& op : job_.ranks[rank].ops) {
        if (op.kind != OpKind::kCollective || !seen.emplace(op.group, true).second) continue;
        const std::vector<int>& ranks = job_.groups[static_cast<size_t>(op.group)].ranks;
        const int stride = strides[static_cast<size_t>(op.group)];
        users[{ranks.size(), stride, count[{ranks.size(), stride}]++}].emplace_back(rank, op.group);
      }
    }
    for (const auto& [shape, of_shape] : users) {
      const uint8_t role = AddRole(NameOfShape(shape), DimensionOf(shape));
      for (const auto& [rank, group] : of_shape) {
        imported_.workload.group_of_rank[role][rank] = group;
        role_of_group_[{rank, group}] = role;
      }
    }
  }

  // Guesses the dimension for accounts: consecutive ranks split layers, others hold replicas.
  Dimension DimensionOf(const GroupShape& shape) const {
    return std::get<1>(shape) == 1 && std::get<0>(shape) < job_.ranks.size() ? Dimension::kTensor
                                                                             : Dimension::kData;
  }

  void FindMessageRoles() {
    Workload& w = imported_.workload;
    std::map<int, std::vector<size_t>> ranks_of_distance;
    for (size_t rank = 0; rank < job_.ranks.size(); ++rank) {
      for (const ForeignOp& op : job_.ranks[rank].ops) {
        if (op.kind != OpKind::kSend && op.kind != OpKind::kRecv) continue;
        std::vector<size_t>& ranks = ranks_of_distance[op.peer - static_cast<int>(rank)];
        if (ranks.empty() || ranks.back() != rank) ranks.push_back(rank);
      }
    }
    std::map<std::pair<int, int>, int> pairs;
    for (const auto& [distance, ranks] : ranks_of_distance) {
      if (w.roles.size() > kMaxRoles) {
        w.roles.push_back({});  // counted only
        continue;
      }
      const uint8_t role = AddRole(fmt::format("p2p{:+}", distance), Dimension::kPipeline);
      role_of_distance_[distance] = role;
      for (const size_t rank : ranks) {
        const int own = static_cast<int>(rank), peer = own + distance;
        const std::pair<int, int> pair = std::minmax(own, peer);
        const auto [entry, added] = pairs.emplace(pair, static_cast<int>(w.groups.size()));
        if (added) w.groups.push_back({{pair.first, pair.second}});
        w.group_of_rank[role][rank] = entry->second;
      }
    }
  }

  Status NameStreams() {
    Workload& w = imported_.workload;
    w.streams = {"compute"};
    std::set<int32_t> lanes;
    std::set<OpKind> memory;
    for (const ForeignRank& rank : job_.ranks) {
      for (const ForeignOp& op : rank.ops) {
        lanes.insert(op.kind == OpKind::kCompute ? op.lane : 0);
        if (UsesMemory(op.kind)) memory.insert(op.kind);
      }
    }
    for (const int32_t lane : lanes) {
      if (lane == 0) continue;
      stream_of_lane_[lane] = static_cast<uint8_t>(w.streams.size());
      w.streams.push_back(lane == 1 ? "host" : fmt::format("processor{}", lane));
    }
    for (const OpKind kind : memory) {
      stream_of_memory_[kind] = static_cast<uint8_t>(w.streams.size());
      w.streams.push_back(OpKindName(kind));
    }
    for (const GroupRole& role : w.roles) {
      first_stream_.push_back(static_cast<uint8_t>(w.streams.size()));
      if (role.dimension == Dimension::kPipeline) {
        w.streams.push_back(role.name + ".send");
        w.streams.push_back(role.name + ".recv");
      } else {
        w.streams.push_back(role.name);
      }
      if (w.streams.size() > kMaxStreams) {
        return Error(
            fmt::format("{}: its {} kinds of groups and peers need more streams than the "
                        "{} of a workload",
                        job_.name, w.roles.size(), kMaxStreams));
      }
    }
    return OkStatus();
  }

  Program MakeProgram(size_t rank, const std::vector<uint32_t>& order) {
    const ForeignRank& from = job_.ranks[rank];
    std::vector<uint32_t> place(from.ops.size());
    for (uint32_t i = 0; i < order.size(); ++i) place[order[i]] = i;
    Program to;
    to.dependency_begin = {0};
    for (const uint32_t index : order) {
      to.ops.push_back(MakeOp(rank, from.ops[index]));
      const auto begin = static_cast<std::ptrdiff_t>(to.dependency.size());
      for (uint32_t d = from.dependency_begin[index]; d < from.dependency_begin[index + 1]; ++d) {
        to.dependency.push_back(place[from.dependency[d]]);
      }
      std::sort(to.dependency.begin() + begin, to.dependency.end());
      to.dependency.erase(std::unique(to.dependency.begin() + begin, to.dependency.end()),
                          to.dependency.end());
      to.dependency_begin.push_back(static_cast<uint32_t>(to.dependency.size()));
    }
    return to;
  }

  Op MakeOp(size_t rank, const ForeignOp& from) {
    Op op;
    op.kind = from.kind;
    op.phase = from.phase;
    if (from.kind == OpKind::kCompute) {
      op.work = from.block;
      op.stream = from.lane == 0 ? 0 : stream_of_lane_.at(from.lane);
      return op;
    }
    if (UsesMemory(from.kind)) {
      op.work = from.block;
      op.stream = stream_of_memory_.at(from.kind);
      return op;
    }
    if (from.kind == OpKind::kCollective) {
      op.role = role_of_group_.at({rank, from.group});
      const auto members =
          static_cast<int>(job_.groups[static_cast<size_t>(from.group)].ranks.size());
      op.work = job_.tables.Call(
          CallOfBytes(from.collective, from.bytes, from.root, members, options_, &rounded_));
    } else {
      const int distance = from.peer - static_cast<int>(rank);
      op.role = role_of_distance_.at(distance);
      CommCall call = CallOfBytes(CollectiveType::kSendRecv, from.bytes, 0, 2, options_, &rounded_);
      const bool first = distance > 0;  // of the pair
      call.root = (from.kind == OpKind::kSend) == first ? 0 : 1;
      call.peer = 1 - call.root;
      op.work = job_.tables.Call(call);
      op.tag = from.tag;
    }
    op.stream = static_cast<uint8_t>(first_stream_[op.role] + (from.kind == OpKind::kRecv ? 1 : 0));
    return op;
  }

  ForeignJob job_;
  const Topology& topology_;
  const ForeignOptions& options_;
  Imported imported_;
  std::map<std::pair<size_t, int>, uint8_t> role_of_group_;  // by rank, group
  std::map<int, uint8_t> role_of_distance_;
  std::vector<uint8_t> first_stream_;  // by role
  std::map<int32_t, uint8_t> stream_of_lane_;
  std::map<OpKind, uint8_t> stream_of_memory_;
  size_t rounded_ = 0;
};

}  // namespace

Result<Imported> AssembleWorkload(ForeignJob job, const Topology& topology,
                                  const ForeignOptions& options) {
  if (job.ranks.size() > static_cast<size_t>(topology.gpu_count())) {
    return Error(fmt::format("{} has {} ranks, but the cluster has {} GPUs", job.name,
                             job.ranks.size(), topology.gpu_count()));
  }
  return Assembly(std::move(job), topology, options).Run();
}

}  // namespace drydock
