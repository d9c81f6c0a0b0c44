#include "workload-gen/sharded/torch_stage.h"

#include <algorithm>

#include "core/base/check.h"
#include "workload-gen/layers/expert_program.h"
#include "workload-gen/program/core_attention.h"
namespace drydock {
namespace {

// ShardingHooks receive gradients per module, not per parameter.
class NullListener : public GradientListener {
 public:
  void OnGradient(ParameterKind, int) override {}
};

class TorchStageWriter {
 public:
  TorchStageWriter(const TorchContext& context, ShardingHooks* hooks)
      : t_(context),
        c_(context.writer),
        b_(*c_.builder),
        tensor_(c_),
        core_(c_),
        experts_(c_, &null_listener_),
        exchanges_(c_, /*device_sync=*/false),
        hooks_(hooks) {}

  void Write() {
    for (const Action& action : MakeSchedule(PipelineShapeOf(c_))) {
      switch (action.kind) {
        case Action::Kind::kCompute:
          Compute(action.work);
          break;
        case Action::Kind::kTogether:
          CHECK_NOTE(false, "a pair of passes without experts");
          break;
        case Action::Kind::kPost:
          exchanges_.Post(action.exchanges);
          break;
        case Action::Kind::kWait:
          exchanges_.Wait(action);
          break;
      }
    }
    b_.SetPlace(-1, -1, 0);
    b_.SetPhase(Phase::kGradientSync);
    hooks_->Finish();
  }

 private:
  void Compute(const StageWork& work) {
    std::vector<int> groups = t_.GroupsOf(work.chunk);
    if (work.backward) std::reverse(groups.begin(), groups.end());
    for (const int group : groups) {
      const GroupPass pass = {group, work.microbatch, work.chunk};
      const bool layer = group >= 0 && group < t_.layers();
      b_.SetPlace(layer ? group : -1, work.microbatch, work.chunk);
      if (work.backward) {
        Backward(pass, layer);
      } else {
        Forward(pass);
      }
    }
    b_.SetPlace(-1, work.microbatch, work.chunk);
    hooks_->AfterWork(work);
  }

  void Forward(const GroupPass& pass) {
    b_.SetPhase(Phase::kForward);
    hooks_->BeforeForward(pass);
    const std::vector<TorchModule>& modules = t_.Group(pass.group).modules;
    for (size_t i = 0; i < modules.size(); ++i) {
      hooks_->BeforeModule(pass, ModulePass::kForward, i);
      RunForward(modules[i], /*redistributes=*/true);
      hooks_->AfterModule(pass, ModulePass::kForward, i);
    }
    hooks_->AfterForward(pass);
  }

  void RunForward(const TorchModule& module, bool redistributes) {
    if (module.before == Redistribution::kGather) tensor_.AllGather();
    for (const uint32_t work : module.forward) b_.Compute(work);
    if (module.core != nullptr) core_.Forward(*module.core);
    if (module.experts != nullptr) experts_.Forward(*module.experts);
    if (redistributes && module.after == Redistribution::kScatter) tensor_.ReduceScatter();
    if (redistributes && module.after == Redistribution::kSum) tensor_.AllReduce();
    for (const CommCall& call : module.calls) b_.Collective(kTensorRole, kTensorStream, call);
  }

  void Backward(const GroupPass& pass, bool layer) {
    b_.SetPhase(Phase::kBackward);
    hooks_->BeforeBackward(pass);
    if (layer && c_.job.training.recompute.granularity != Recompute::kNone) Repeat(pass);
    const std::vector<TorchModule>& modules = t_.Group(pass.group).modules;
    for (size_t i = modules.size(); i-- > 0;) {
      hooks_->BeforeModule(pass, ModulePass::kBackward, i);
      RunBackward(modules[i]);
      hooks_->AfterModule(pass, ModulePass::kBackward, i);
    }
    hooks_->AfterBackward(pass);
  }

  // torchtitan's selective checkpointing also saves the results of the reduce-scatters.
  void Repeat(const GroupPass& pass) {
    const bool full = c_.job.training.recompute.granularity == Recompute::kFull;
    b_.SetPhase(Phase::kRecompute);
    const std::vector<TorchModule>& modules = t_.Group(pass.group).modules;
    for (size_t i = 0; i < modules.size(); ++i) {
      if (!full && !modules[i].selectively_recomputed) {
        // The all-gather is a separate operation, which repeats even if the output of the GEMM
        // after it is saved.
        if (modules[i].before == Redistribution::kGather) tensor_.AllGather();
        continue;
      }
      hooks_->BeforeModule(pass, ModulePass::kRecompute, i);
      RunForward(modules[i], /*redistributes=*/full);
      hooks_->AfterModule(pass, ModulePass::kRecompute, i);
    }
    b_.SetPhase(Phase::kBackward);
  }

  void RunBackward(const TorchModule& module) {
    if (module.after == Redistribution::kScatter) tensor_.AllGather();
    for (const uint32_t work : module.backward) b_.Compute(work);
    if (module.core != nullptr) core_.Backward(*module.core);
    if (module.experts != nullptr) experts_.Backward(*module.experts, -1);
    if (module.before == Redistribution::kGather) tensor_.ReduceScatter();
    if (module.before == Redistribution::kCopy) tensor_.AllReduce();
    if (module.partial_gradient) SumParts(module);
  }

  void SumParts(const TorchModule& module) {
    for (const int64_t elements : module.parameters) {
      CommCall call;
      call.type = c_.job.training.precision.type;
      call.count = elements;
      call.group_size = c_.layout.tensor;
      b_.Collective(kTensorRole, kTensorStream, call);
    }
  }

  const TorchContext& t_;
  const WriterContext& c_;
  ProgramBuilder& b_;
  TensorParallel tensor_;
  CoreAttention core_;
  NullListener null_listener_;
  ExpertWriter experts_;
  PipelineExchanges exchanges_;
  ShardingHooks* hooks_;
};

}  // namespace

std::vector<int> TorchContext::GroupsOf(int chunk) const {
  std::vector<int> groups;
  if (writer.IsFirst(chunk)) groups.push_back(-1);
  const int end = writer.layout.EndLayer(writer.stage, chunk);
  for (int layer = writer.layout.FirstLayer(writer.stage, chunk); layer < end; ++layer) {
    groups.push_back(layer);
  }
  if (writer.IsLast(chunk)) groups.push_back(layers());
  return groups;
}

void WriteTorchStage(const TorchContext& context, ShardingHooks* hooks) {
  TorchStageWriter(context, hooks).Write();
}

}  // namespace drydock
