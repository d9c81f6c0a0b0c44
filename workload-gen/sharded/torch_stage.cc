#include "workload-gen/sharded/torch_stage.h"

#include <algorithm>

#include "core/base/check.h"
#include "workload-gen/layers/expert_program.h"
#include "workload-gen/program/core_attention.h"
#include "workload-gen/program/sample_loader.h"
#include "workload-gen/sharded/torch_tensor.h"
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
        whole_(c_),
        core_(c_),
        experts_(c_, &null_listener_),
        exchanges_(c_, /*device_sync=*/false),
        hooks_(hooks) {}

  void Write() {
    samples_.Begin();
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
    if (work.backward)
      std::reverse(groups.begin(), groups.end());
    else
      samples_.BeforeForward(work.microbatch);
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
    in_parts_ = 0;
    const size_t end = modules.size() - t_.Group(pass.group).CountBehind();
    for (size_t i = 0; i < end; ++i) {
      hooks_->BeforeModule(pass, ModulePass::kForward, i);
      RunForward(modules, i, /*redistributes=*/true);
      hooks_->AfterModule(pass, ModulePass::kForward, i);
    }
    hooks_->AfterForward(pass);
    for (size_t i = end; i < modules.size(); ++i) RunForward(modules, i, /*redistributes=*/true);
  }

  // Casts and gathers the input of this module and of the modules that share it.
  void Enter(const std::vector<TorchModule>& modules, size_t i) {
    const TorchModule& module = modules[i];
    tensor_.Cast(module.input_cast);
    if (module.before != Redistribution::kGather) return;
    std::vector<uint32_t> parts;
    const size_t end = i + static_cast<size_t>(module.sharing);
    for (size_t j = i; j < end; ++j) {
      if (modules[j].async.forward && Runs(modules[j])) parts.push_back(*modules[j].async.forward);
    }
    if (parts.empty()) return tensor_.Gather(module.gathered);
    for (size_t j = i; j < end; ++j) PrepareProduct(modules[j]);
    tensor_.GatherBetween(parts, module.gathered);
    in_parts_ = end;
  }

  // All but the product, which is the last.
  void PrepareProduct(const TorchModule& module) {
    if (!Runs(module)) return;
    tensor_.Cast(module.weight_cast);
    for (size_t i = 0; i + 1 < module.forward.size(); ++i) b_.Compute(module.forward[i]);
  }

  // False in the recomputation of a module whose results are saved.
  bool Runs(const TorchModule& module) const {
    return b_.phase() != Phase::kRecompute || repeats_all() || module.selectively_recomputed;
  }

  void RunForward(const std::vector<TorchModule>& modules, size_t i, bool redistributes) {
    const TorchModule& module = modules[i];
    if (i >= in_parts_) Enter(modules, i);
    if (i < in_parts_) return;  // the product ran in parts
    const bool scatters = redistributes && module.after == Redistribution::kScatter;
    if (scatters && module.async.forward) {
      PrepareProduct(module);
      return tensor_.ScatterBetween(*module.async.forward, *module.async.sum);
    }
    tensor_.Cast(module.weight_cast);
    for (const uint32_t work : module.forward) b_.Compute(work);
    if (module.core != nullptr) core_.Forward(*module.core);
    if (module.experts != nullptr) experts_.Forward(*module.experts);
    if (scatters) tensor_.Scatter();
    if (redistributes && module.after == Redistribution::kSum) whole_.AllReduce();
    for (const CommCall& call : module.calls) b_.Collective(kTensorRole, kTensorStream, call);
  }

  void Backward(const GroupPass& pass, bool layer) {
    b_.SetPhase(Phase::kBackward);
    const std::vector<TorchModule>& modules = t_.Group(pass.group).modules;
    const size_t end = modules.size() - t_.Group(pass.group).CountBehind();
    for (size_t i = modules.size(); i-- > end;) RunBackward(modules[i]);
    hooks_->BeforeBackward(pass);
    if (layer && c_.job.training.recompute.granularity != Recompute::kNone) Repeat(pass);
    for (size_t i = end; i-- > 0;) {
      hooks_->BeforeModule(pass, ModulePass::kBackward, i);
      RunBackward(modules[i]);
      hooks_->AfterModule(pass, ModulePass::kBackward, i);
    }
    hooks_->AfterBackward(pass);
  }

  // torchtitan's selective checkpointing also saves the results of the reduce-scatters.
  void Repeat(const GroupPass& pass) {
    b_.SetPhase(Phase::kRecompute);
    const TorchGroup& group = t_.Group(pass.group);
    const std::vector<TorchModule>& modules = group.modules;
    in_parts_ = 0;
    const size_t end = group.CountRepeated(c_.job);
    for (size_t i = 0; i < end; ++i) {
      if (!Runs(modules[i])) {
        // The cast and the all-gather are separate operations, which repeat even if the output of
        // the GEMM after them is saved.
        if (i >= in_parts_) Enter(modules, i);
        continue;
      }
      hooks_->BeforeModule(pass, ModulePass::kRecompute, i);
      RunForward(modules, i, /*redistributes=*/repeats_all());
      hooks_->AfterModule(pass, ModulePass::kRecompute, i);
    }
    b_.SetPhase(Phase::kBackward);
  }

  bool repeats_all() const { return c_.job.training.recompute.granularity == Recompute::kFull; }

  void RunBackward(const TorchModule& module) {
    tensor_.Cast(module.gradient_cast);
    const bool gathers = module.after == Redistribution::kScatter;
    const bool in_parts = gathers && module.async.gradient;
    if (in_parts) tensor_.GatherBetween({*module.async.gradient}, module.gradient_gathered);
    if (gathers && !in_parts) tensor_.Gather(module.gradient_gathered);
    for (const uint32_t work : module.backward) {
      if (!in_parts || work != *module.input_gradient) b_.Compute(work);
    }
    if (module.core != nullptr) core_.Backward(*module.core);
    if (module.experts != nullptr) experts_.Backward(*module.experts, -1);
    if (module.before == Redistribution::kGather) tensor_.Scatter();
    if (module.before == Redistribution::kCopy) whole_.AllReduce();
    if (!hooks_->SumsParts()) SumParts(c_, module, c_.job.training.precision.type);
  }

  const TorchContext& t_;
  const WriterContext& c_;
  ProgramBuilder& b_;
  TorchTensor tensor_;
  TensorParallel whole_;  // layers that see all rows
  CoreAttention core_;
  NullListener null_listener_;
  ExpertWriter experts_;
  PipelineExchanges exchanges_;
  SampleLoader samples_{c_};
  ShardingHooks* hooks_;
  size_t in_parts_ = 0;  // the products of modules before this one ran in parts
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

void SumParts(const WriterContext& context, const TorchModule& module, DataType type) {
  if (!module.partial_gradient) return;
  for (const int64_t elements : module.parameters) {
    CommCall call;
    call.type = type;
    call.count = elements;
    call.group_size = context.layout.tensor;
    context.builder->Collective(kTensorRole, kTensorStream, call);
  }
}

void WriteTorchStage(const TorchContext& context, ShardingHooks* hooks) {
  TorchStageWriter(context, hooks).Write();
}

}  // namespace drydock
