#include "workload-gen/megatron.h"

#include "workload-gen/layer_work.h"
#include "workload-gen/megatron_scope.h"
#include "workload-gen/model_size.h"
#include "workload-gen/process_groups.h"
#include "workload-gen/program_builder.h"
#include "workload-gen/stage_program.h"
#include "workload-gen/table_finish.h"

namespace drydock {
namespace {

WorkloadTotals TotalsOf(const TrainingJob& job, const Layout& layout) {
  const IterationFlops flops = FlopsOfIteration(job);
  WorkloadTotals totals;
  totals.tokens = job.training.global_batch * job.model.sequence;
  totals.model_flops = flops.model;
  totals.hardware_flops = flops.hardware;
  totals.parameters = ParameterCount(job.model);
  totals.model_name = job.model.name;
  totals.layout = layout.ToString();
  totals.precision = job.training.precision;
  return totals;
}

class Megatron : public Framework {
 public:
  Status Check(const TrainingJob& job) const override { return CheckMegatronScope(job); }

  Workload Build(const TrainingJob& job, const Layout& layout,
                 const Topology& topology) const override {
    Workload workload;
    workload.topology = topology;
    workload.streams = StreamNames();
    workload.totals = TotalsOf(job, layout);
    BuildGroups(layout, job.model.tied_embedding, &workload);
    WorkTables tables(&workload);
    const RankWork work = MakeRankWork(job, layout, &tables);
    for (int stage = 0; stage < layout.pipeline; ++stage) {
      workload.programs.push_back(WriteStageProgram(job, layout, work, stage, &tables));
    }
    workload.class_count = layout.pipeline;
    for (int rank = 0; rank < layout.world(); ++rank) {
      workload.class_of_rank.push_back(layout.StageOf(rank));
    }
    DropUnusedSubmodules(&workload);
    CollectUses(&workload);
    return workload;
  }
};

}  // namespace

std::unique_ptr<Framework> MakeMegatron() { return std::make_unique<Megatron>(); }

}  // namespace drydock
