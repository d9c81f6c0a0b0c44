#include "workload-gen/sharded/zero_hooks.h"

#include <algorithm>
#include <numeric>

#include "workload-gen/sharded/zero_step.h"

namespace drydock {
namespace {

// DeepSpeed measures its throughput by default: the host synchronizes the device before a
// micro-batch and after it (ThroughputTimer of utils/timer.py). Pipelines never stop this timer
// (pipe/engine.py), and it synchronizes only once it has counted steps.
void TimeMicrobatch(const TorchContext& context, const GroupPass& pass) {
  if (context.writer.layout.pipeline > 1) return;
  const bool first = pass.group == context.GroupsOf(pass.chunk).front() && pass.chunk == 0;
  if (first) context.writer.builder->HostSynchronizes();
}

}  // namespace

std::vector<int64_t> StageParameters(const TorchContext& context) {
  std::vector<int64_t> elements;
  for (int chunk = 0; chunk < context.writer.layout.chunks; ++chunk) {
    for (const int group : context.GroupsOf(chunk)) {
      for (const TorchModule& module : context.Group(group).modules) {
        elements.insert(elements.end(), module.parameters.begin(), module.parameters.end());
      }
    }
  }
  return elements;
}

std::vector<int64_t> StageExpertParameters(const TorchContext& context) {
  std::vector<int64_t> elements;
  for (int chunk = 0; chunk < context.writer.layout.chunks; ++chunk) {
    for (const int group : context.GroupsOf(chunk)) {
      for (const TorchModule& module : context.Group(group).modules) {
        elements.insert(elements.end(), module.expert_parameters.begin(),
                        module.expert_parameters.end());
      }
    }
  }
  return elements;
}

int64_t StageExpertElements(const TorchContext& context) {
  const std::vector<int64_t> elements = StageExpertParameters(context);
  return std::accumulate(elements.begin(), elements.end(), int64_t{0});
}

ZeroHooks::ZeroHooks(const TorchContext& context)
    : t_(context),
      c_(context.writer),
      rules_(context.writer.job.zero),
      buckets_(context.writer, context.writer.job.zero),
      expert_buckets_(context.writer, context.writer.job.zero, /*experts=*/true) {
  int64_t offset = 0;
  for (int chunk = 0; chunk < c_.layout.chunks; ++chunk) {
    for (const int group : t_.GroupsOf(chunk)) {
      const std::vector<TorchModule>& modules = t_.Group(group).modules;
      for (size_t module = 0; module < modules.size(); ++module) {
        offsets_[{group, module}] = offset;
        offset += modules[module].elements();
      }
    }
  }
  buckets_.SetShare(ZeroShare(offset, c_.layout.gradient_ranks()));
}

// reduce_gradients of stage_1_and_2.py: without overlap_comm, stage 1 reduces nothing before the
// last backward has ended.
bool ZeroHooks::reduces_at_end() const {
  return c_.layout.pipeline > 1 || (rules_.stage == 1 && !rules_.overlap_comm);
}

void ZeroHooks::AfterModule(const GroupPass& pass, ModulePass part, size_t module) {
  if (part != ModulePass::kBackward) return;
  const TorchModule& m = t_.Group(pass.group).modules[module];
  const bool last = pass.microbatch == c_.layout.microbatches - 1;
  const bool whole = rules_.stage == 1;  // this rank keeps all gradients until the last micro-batch
  const int64_t elements = m.elements() + m.expert_elements();
  if (whole && pass.microbatch > 0 && elements > 0) {
    c_.builder->Compute(AccumulationWork("zero.accumulate", c_.job.training.precision.type, false,
                                         elements, c_.tables));
  }
  if (reduces_at_end() || (whole && !last)) return;
  buckets_.BeginMicrobatch(pass.microbatch);
  expert_buckets_.BeginMicrobatch(pass.microbatch);
  // Autograd computes the gradients of a module's later parameters first.
  for (size_t i = m.expert_parameters.size(); i-- > 0;) expert_buckets_.Add(m.expert_parameters[i]);
  int64_t offset = OffsetOf(pass.group, module) + m.elements();
  for (size_t i = m.parameters.size(); i-- > 0;) {
    offset -= m.parameters[i];
    buckets_.Add(m.parameters[i], offset);
  }
}

void ZeroHooks::BeforeForward(const GroupPass& pass) { TimeMicrobatch(t_, pass); }

void ZeroHooks::AfterWork(const StageWork& work) {
  if (rules_.stage != 2 || !work.backward) return;
  buckets_.Finish();
  expert_buckets_.Finish();
}

int64_t ZeroHooks::OffsetOf(int group, size_t module) const {
  const auto found = offsets_.find({group, module});
  return found == offsets_.end() ? 0 : found->second;
}

void ZeroHooks::Finish() {
  const std::vector<int64_t> parameters = StageParameters(t_);
  if (reduces_at_end()) {
    buckets_.BeginMicrobatch(c_.layout.microbatches - 1);
    expert_buckets_.BeginMicrobatch(c_.layout.microbatches - 1);
    int64_t offset = 0;
    for (const int64_t elements : parameters) {
      buckets_.Add(elements, offset);
      offset += elements;
    }
    for (const int64_t elements : StageExpertParameters(t_)) expert_buckets_.Add(elements);
  }
  buckets_.Finish();
  expert_buckets_.Finish();
  // overlapping_partition_gradients_reduce_epilogue of stage_1_and_2.py.
  if (rules_.overlap_comm) c_.builder->HostSynchronizes();
  int64_t all = 0;
  for (const int64_t elements : parameters) all += elements;
  ZeroStep(c_).Write(all, {}, StageExpertElements(t_));
}

Zero3Hooks::Zero3Hooks(const TorchContext& context)
    : t_(context),
      c_(context.writer),
      trace_(context),
      offload_(context.writer),
      buckets_(context.writer, context.writer.job.zero),
      plan_(PlanZeroFetches(trace_.parameters, trace_.steps, context.writer.job.zero,
                            context.writer.layout.gradient_ranks())) {}

void Zero3Hooks::Start(int gather) {
  if (gather < 0) return;
  CommCall call;
  call.collective = CollectiveType::kAllGather;
  call.type = c_.job.training.precision.type;
  call.count = plan_.gathers[static_cast<size_t>(gather)].elements;
  call.group_size = c_.layout.gradient_ranks();
  ProgramBuilder::OpId& running = running_[static_cast<size_t>(gather)];
  const int64_t share = call.count / call.group_size * SizeOf(call.type).count();
  running = c_.job.zero.offload_param ? offload_.Load("zero.parameters", share)
                                      : ProgramBuilder::kNothing;
  if (call.group_size < 2) return;
  running = c_.builder->StartCollective(kDataRole, kDataStream, call, running);
}

void Zero3Hooks::Wait(int gather) {
  c_.builder->Wait(running_[static_cast<size_t>(gather)]);
  const ZeroFetch& fetch = plan_.gathers[static_cast<size_t>(gather)];
  if (fetch.parameters.size() < 2 || c_.layout.gradient_ranks() < 2) return;
  // Assembles each parameter from the shards of all ranks.
  c_.builder->Compute(StepWork("zero.copy-out", submodule::GradientScale{{fetch.elements}},
                               c_.job.training.precision.type, c_.tables));
}

void Zero3Hooks::BeforeForward(const GroupPass& pass) { TimeMicrobatch(t_, pass); }

void Zero3Hooks::BeforeModule(const GroupPass& pass, ModulePass part, size_t module) {
  if (c_.layout.gradient_ranks() < 2 && !c_.job.zero.offload_param) return;
  const auto place = trace_.step_of.find({pass.group, part, module});
  if (place == trace_.step_of.end()) return;
  if (place->second == 0) running_.assign(plan_.gathers.size(), ProgramBuilder::kNothing);
  const ZeroFetchStep& step = plan_.steps[place->second];
  Start(step.own);
  if (!c_.job.zero.overlap_comm) Start(step.prefetch);
  for (const int gather : step.waits) Wait(gather);
  if (c_.job.zero.overlap_comm) Start(step.prefetch);
}

void Zero3Hooks::AfterModule(const GroupPass& pass, ModulePass part, size_t module) {
  if (part != ModulePass::kBackward) return;
  buckets_.BeginMicrobatch(pass.microbatch);
  const std::vector<int64_t>& parameters = t_.Group(pass.group).modules[module].parameters;
  for (size_t i = parameters.size(); i-- > 0;) buckets_.Add(parameters[i]);
}

void Zero3Hooks::AfterWork(const StageWork& work) {
  if (work.backward) buckets_.Finish();
}

void Zero3Hooks::Finish() {
  int64_t share = 0;
  std::vector<int64_t> persistent;
  const int64_t ranks = c_.layout.gradient_ranks();
  for (const int64_t elements : trace_.parameters) {
    const int64_t part = (elements + ranks - 1) / ranks;
    share += part;
    if (elements <= c_.job.zero.param_persistence_threshold) persistent.push_back(part * ranks);
  }
  ZeroStep(c_).Write(share * ranks, persistent, 0);
}

}  // namespace drydock
