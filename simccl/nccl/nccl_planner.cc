#include "simccl/nccl/nccl_planner.h"

#include <optional>
#include <utility>

#include "core/base/check.h"
#include "core/model/calls/grouped_call.h"
#include "core/nccl/nccl_library.h"
#include "core/nccl/topology_world.h"
#include "simccl/expand/expand.h"
#include "simccl/expand/plan_builder.h"
#include "simccl/nccl/nccl_calls.h"
#include "simccl/planner/call_shape.h"

namespace drydock {
namespace {

class NcclPlanner : public CollectivePlanner {
 public:
  NcclPlanner(const Topology& topology, NcclWorld world)
      : topology_(topology), world_(std::move(world)) {}

  Status OpenGroup(std::span<const Placement::Slot> members) override {
    communicator_.reset();
    ASSIGN_OR_RETURN(NcclCommunicator created,
                     world_.CreateCommunicator(PlacesOf(members, topology_)));
    communicator_.emplace(std::move(created));
    return OkStatus();
  }

  Result<Plan> PlanCall(const CommCall& call) override {
    CHECK(communicator_.has_value());
    PlanBuilder builder(*communicator_);
    RETURN_IF_ERROR(Expand(call, &builder));
    return builder.Finish(NameOf(call));
  }

 private:
  static Status Expand(const CommCall& call, PlanBuilder* builder) {
    const int members = builder->members();
    RETURN_IF_ERROR(CheckCallShape(call, members));
    if (members == 1 || call.count == 0) {
      builder->work().algorithm = Algorithm::kLocal;
      return OkStatus();
    }
    return ExpandCalls(CallsOf(call), builder);
  }

  const Topology& topology_;
  NcclWorld world_;
  std::optional<NcclCommunicator> communicator_;
};

}  // namespace

Result<std::unique_ptr<CollectivePlanner>> MakeNcclPlanner(const Topology& topology,
                                                           const std::string& library_path) {
  ASSIGN_OR_RETURN(NcclWorld world, WorldOf(topology, library_path));
  return std::unique_ptr<CollectivePlanner>(
      std::make_unique<NcclPlanner>(topology, std::move(world)));
}

}  // namespace drydock
