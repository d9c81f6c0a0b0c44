#include "simccl/nccl_planner.h"

#include <fmt/format.h>

#include <optional>
#include <utility>
#include <vector>

#include "core/base/check.h"
#include "core/nccl/nccl_library.h"
#include "core/nccl/topology_xml.h"
#include "simccl/expand.h"
#include "simccl/plan_builder.h"

namespace drydock {
namespace {

int NcclType(DataType type) {
  switch (type) {
    case DataType::kFp32:
    case DataType::kTf32:  // a way to multiply; stored as fp32
      return HACKNCCL_FLOAT32;
    case DataType::kFp16:
      return HACKNCCL_FLOAT16;
    case DataType::kBf16:
      return HACKNCCL_BFLOAT16;
    case DataType::kFp8:
      return HACKNCCL_FLOAT8_E4M3;
    case DataType::kInt8:
      return HACKNCCL_INT8;
    case DataType::kInt32:
      return HACKNCCL_INT32;
    case DataType::kInt64:
      return HACKNCCL_INT64;
  }
  CHECK(false);
}

int NcclOp(ReduceOp op) {
  switch (op) {
    case ReduceOp::kSum:
      return HACKNCCL_SUM;
    case ReduceOp::kMax:
      return HACKNCCL_MAX;
    case ReduceOp::kAverage:
      return HACKNCCL_AVG;
  }
  CHECK(false);
}

int NcclFunction(CollectiveType type) {
  switch (type) {
    case CollectiveType::kAllReduce:
      return HACKNCCL_ALL_REDUCE;
    case CollectiveType::kAllGather:
      return HACKNCCL_ALL_GATHER;
    case CollectiveType::kReduceScatter:
      return HACKNCCL_REDUCE_SCATTER;
    case CollectiveType::kBroadcast:
      return HACKNCCL_BROADCAST;
    default:
      CHECK(type == CollectiveType::kReduce);
      return HACKNCCL_REDUCE;
  }
}

// Calls whose buffer is made of one equal part per member.
bool HasParts(CollectiveType type) {
  return type == CollectiveType::kAllGather || type == CollectiveType::kReduceScatter ||
         type == CollectiveType::kAllToAll;
}

class NcclPlanner : public CollectivePlanner {
 public:
  NcclPlanner(const Topology& topology, NcclWorld world)
      : topology_(topology), world_(std::move(world)) {}

  Status OpenGroup(std::span<const Placement::Slot> members) override {
    std::vector<hacknccl_place> places;
    for (const Placement::Slot& slot : members) {
      places.push_back({slot.host, topology_.hosts[static_cast<size_t>(slot.host)], slot.gpu});
    }
    communicator_.reset();
    ASSIGN_OR_RETURN(NcclCommunicator created, world_.CreateCommunicator(places));
    communicator_.emplace(std::move(created));
    return OkStatus();
  }

  Result<Plan> PlanCall(const CommCall& call) override {
    CHECK(communicator_.has_value());
    PlanBuilder builder(*communicator_);
    RETURN_IF_ERROR(Expand(call, &builder));
    ASSIGN_OR_RETURN(Plan plan, builder.Finish());
    plan.name = NameOf(call);
    return plan;
  }

 private:
  Status Expand(const CommCall& call, PlanBuilder* builder) const {
    const int members = builder->members();
    const int64_t parts = HasParts(call.collective) ? members : 1;
    if (call.group_size != members || call.count < 0 || call.count % parts != 0) {
      return Error(fmt::format("{} elements do not divide among a group of {} (said to be {})",
                               call.count, members, call.group_size));
    }
    if (members == 1 || call.count == 0) {
      builder->plan().algorithm = Algorithm::kLocal;
      return OkStatus();
    }
    if (call.collective == CollectiveType::kSendRecv) {
      return ExpandSendRecv(call.root, call.peer, call.bytes().count(), builder);
    }
    if (call.collective == CollectiveType::kAllToAll) {
      return ExpandAllToAll(call.bytes().count() / members, builder);
    }
    const hacknccl_call asked = {NcclFunction(call.collective), NcclType(call.type),
                                 NcclOp(call.op), call.root,
                                 static_cast<uint64_t>(call.count / parts), 0};
    ASSIGN_OR_RETURN(const NcclPlan plan, communicator_->Collective(asked));
    if (plan.kind != HACKNCCL_PLAN_KERNEL || plan.collectives.size() != 1) {
      return Error(fmt::format("NCCL chose {} for this call, which is not expanded into flows yet",
                               plan.kind == HACKNCCL_PLAN_SYMMETRIC     ? "symmetric kernels"
                               : plan.kind == HACKNCCL_PLAN_COPY_ENGINE ? "copy engines"
                                                                        : "several kernels"));
    }
    return ExpandCollective(plan.collectives[0], builder);
  }

  const Topology& topology_;
  NcclWorld world_;
  std::optional<NcclCommunicator> communicator_;
};

}  // namespace

Result<std::unique_ptr<CollectivePlanner>> MakeNcclPlanner(const Topology& topology,
                                                           const PlannerOptions& options) {
  ASSIGN_OR_RETURN(std::shared_ptr<NcclLibrary> library, NcclLibrary::Load(options.nccl_library));
  std::vector<NcclHost> hosts;
  for (const HostKind& kind : topology.host_kinds) {
    const GpuSpec& gpu = topology.gpus[static_cast<size_t>(kind.gpu)];
    ASSIGN_OR_RETURN(NcclHost host, DescribeHost(kind, gpu));
    hosts.push_back(std::move(host));
  }
  ASSIGN_OR_RETURN(NcclWorld world,
                   NcclWorld::Create(std::move(library), hosts, topology.nccl_settings));
  return std::unique_ptr<CollectivePlanner>(
      std::make_unique<NcclPlanner>(topology, std::move(world)));
}

}  // namespace drydock
