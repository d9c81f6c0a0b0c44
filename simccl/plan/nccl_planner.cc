#include "simccl/plan/nccl_planner.h"

#include <fmt/format.h>

#include <optional>
#include <utility>
#include <vector>

#include "core/base/check.h"
#include "core/nccl/nccl_library.h"
#include "core/nccl/topology_world.h"
#include "simccl/expand/expand.h"
#include "simccl/expand/plan_builder.h"
#include "simccl/plan/nccl_calls.h"
#include "simccl/plan/userbuffers.h"

namespace drydock {
namespace {

class NcclPlanner : public CollectivePlanner {
 public:
  NcclPlanner(const Topology& topology, NcclWorld world)
      : topology_(topology), world_(std::move(world)) {}

  Status OpenGroup(std::span<const Placement::Slot> members) override {
    communicator_.reset();
    members_.assign(members.begin(), members.end());
    ASSIGN_OR_RETURN(NcclCommunicator created,
                     world_.CreateCommunicator(PlacesOf(members, topology_)));
    communicator_.emplace(std::move(created));
    return OkStatus();
  }

  Result<Plan> PlanCall(const CommCall& call) override {
    CHECK(communicator_.has_value());
    PlanBuilder builder(*communicator_);
    if (UsesUserBuffers(call) && members_.size() > 1 && call.count > 0) {
      RETURN_IF_ERROR(CheckShapes(call, builder.members()));
      return PlanUserBuffers(call, members_);
    }
    RETURN_IF_ERROR(Expand(call, &builder));
    return builder.Finish(NameOf(call));
  }

 private:
  Status Expand(const CommCall& call, PlanBuilder* builder) const {
    const int members = builder->members();
    RETURN_IF_ERROR(CheckShapes(call, members));
    if (members == 1 || call.count == 0) {
      builder->work().algorithm = Algorithm::kLocal;
      return OkStatus();
    }
    return ExpandCalls(CallsOf(call), builder);
  }

  static Status CheckShapes(const CommCall& call, int members) {
    RETURN_IF_ERROR(CheckShape(call, members));
    for (const CommCall& part : call.parts) RETURN_IF_ERROR(CheckShape(part, members));
    return OkStatus();
  }

  static Status CheckShape(const CommCall& call, int members) {
    if (call.group_size == members && call.count >= 0 && call.count % PartsOf(call) == 0) {
      return OkStatus();
    }
    return Error(fmt::format("{} elements do not divide among a group of {} (said to be {})",
                             call.count, members, call.group_size));
  }

  const Topology& topology_;
  NcclWorld world_;
  std::optional<NcclCommunicator> communicator_;
  std::vector<Placement::Slot> members_;
};

}  // namespace

Result<std::unique_ptr<CollectivePlanner>> MakeNcclPlanner(const Topology& topology,
                                                           const PlannerOptions& options) {
  ASSIGN_OR_RETURN(NcclWorld world, WorldOf(topology, options.nccl_library));
  return std::unique_ptr<CollectivePlanner>(
      std::make_unique<NcclPlanner>(topology, std::move(world)));
}

}  // namespace drydock
