#include "workload-gen/sharded/zero_hooks.h"

#include <algorithm>
#include <numeric>
#include <utility>

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

int64_t OwnGradients(const std::vector<int64_t>& parameters, int64_t share) {
  // Sums of whole parameters by the rank of whose share a parameter has a part.
  std::map<int64_t, int64_t> of_rank;
  int64_t offset = 0, most = 0;
  for (const int64_t elements : parameters) {
    const int64_t last = (offset + elements - 1) / share;
    for (int64_t rank = offset / share; rank <= last; ++rank) {
      most = std::max(most, of_rank[rank] += elements);
    }
    offset += elements;
  }
  return most;
}

ZeroHooks::ZeroHooks(const TorchContext& context)
    : t_(context),
      c_(context.writer),
      rules_(context.writer.job.zero),
      held_(*context.writer.builder),
      buckets_(context.writer, context.writer.job.zero, &held_),
      expert_buckets_(context.writer, context.writer.job.zero, &held_, /*experts=*/true) {
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
  const int64_t share = ZeroShare(offset, c_.layout.gradient_ranks());
  buckets_.SetShare(share);
  own_ = OwnGradients(StageParameters(context), share);
  own_ += StageExpertElements(context) / c_.layout.expert_data();
}

// reduce_gradients of stage_1_and_2.py: without overlap_comm, stage 1 reduces nothing before the
// last backward has ended.
bool ZeroHooks::reduces_at_end() const {
  return c_.layout.pipeline > 1 || (rules_.stage == 1 && !rules_.overlap_comm);
}

void ZeroHooks::BeforeModule(const GroupPass& pass, ModulePass part, size_t module) {
  if (part != ModulePass::kBackward) return;
  const TorchModule& m = t_.Group(pass.group).modules[module];
  for (const int64_t elements : m.parameters) {
    gradients_.push_back(held_.Hold(HeldKind::kBuffers, elements * TypeBytes()));
  }
  for (const int64_t elements : m.expert_parameters) {
    gradients_.push_back(held_.Hold(HeldKind::kBuffers, elements * TypeBytes()));
  }
}

void ZeroHooks::AfterModule(const GroupPass& pass, ModulePass part, size_t module) {
  if (part != ModulePass::kBackward) return;
  const TorchModule& m = t_.Group(pass.group).modules[module];
  const bool last = pass.microbatch == c_.layout.microbatches - 1;
  const bool whole = rules_.stage == 1;  // this rank keeps all gradients until the last micro-batch
  const int64_t elements = m.elements() + m.expert_elements();
  if (elements > 0) HoldBuckets();
  if (whole && pass.microbatch > 0 && elements > 0) {
    c_.builder->Compute(AccumulationWork("zero.accumulate", c_.job.training.precision.type, false,
                                         elements, c_.tables));
  }
  if (whole && pass.microbatch == 0) {
    sums_.push_back(held_.Hold(HeldKind::kGradients, elements * TypeBytes()));
  }
  if (!reduces_at_end() && (!whole || last)) ReduceModule(pass, module);
  held_.Free(&gradients_);
}

// Autograd computes the gradients of a module's later parameters first.
void ZeroHooks::ReduceModule(const GroupPass& pass, size_t module) {
  const TorchModule& m = t_.Group(pass.group).modules[module];
  buckets_.BeginMicrobatch(pass.microbatch);
  expert_buckets_.BeginMicrobatch(pass.microbatch);
  const auto take = [this](size_t parameter) { return std::exchange(gradients_[parameter], {}); };
  const size_t others = m.parameters.size();
  for (size_t i = m.expert_parameters.size(); i-- > 0;) {
    expert_buckets_.Add(m.expert_parameters[i], 0, take(others + i));
  }
  int64_t offset = OffsetOf(pass.group, module) + m.elements();
  for (size_t i = others; i-- > 0;) {
    offset -= m.parameters[i];
    buckets_.Add(m.parameters[i], offset, take(i));
  }
  HoldOwn();
}

// setup_buckets of stage_1_and_2.py: whole buckets, however few gradients there are.
void ZeroHooks::HoldBuckets() {
  if (!bucket_buffers_.empty()) return;
  for (int i = 0; i < (rules_.overlap_comm ? 2 : 1); ++i) {
    bucket_buffers_.push_back(
        held_.Hold(HeldKind::kBuffers, rules_.reduce_bucket_size * TypeBytes()));
  }
}

// Offloaded gradients leave for the host from the bucket.
void ZeroHooks::HoldOwn() {
  if (rules_.offload_optimizer) return;
  held_.Hold(&own_gradients_, HeldKind::kGradients, own_ * TypeBytes());
}

void ZeroHooks::BeforeForward(const GroupPass& pass) { TimeMicrobatch(t_, pass); }

void ZeroHooks::AfterWork(const StageWork& work) {
  if (rules_.stage != 2 || !work.backward) return;
  buckets_.Finish();
  expert_buckets_.Finish();
  held_.Free(&bucket_buffers_);
  // independent_gradient_partition_epilogue: a first micro-batch's gradients are the sums.
  if (!own_sums_.held()) {
    own_sums_ = std::exchange(own_gradients_, {});
  } else {
    held_.Free(&own_gradients_);
  }
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
    HoldOwn();
  }
  buckets_.Finish();
  expert_buckets_.Finish();
  held_.Free(&bucket_buffers_);
  // overlapping_partition_gradients_reduce_epilogue of stage_1_and_2.py.
  if (rules_.overlap_comm) c_.builder->HostSynchronizes();
  int64_t all = 0;
  for (const int64_t elements : parameters) all += elements;
  held_.Free(&sums_);
  ZeroStep(c_, &held_).Write(all, {}, StageExpertElements(t_));
  held_.Free(&own_gradients_);
  held_.Free(&own_sums_);
}

Zero3Hooks::Zero3Hooks(const TorchContext& context)
    : t_(context),
      c_(context.writer),
      trace_(context),
      offload_(context.writer),
      held_(*context.writer.builder),
      buckets_(context.writer, context.writer.job.zero, &held_),
      plan_(PlanZeroFetches(trace_.parameters, trace_.steps, context.writer.job.zero,
                            context.writer.layout.gradient_ranks())) {
  whole_.resize(trace_.parameters.size());
}

// Nothing is gathered when a micro-batch begins.
void Zero3Hooks::Begin() {
  running_.assign(plan_.gathers.size(), ProgramBuilder::kNothing);
  held_.Free(&flat_);
  flat_.resize(plan_.gathers.size());
  unused_.assign(plan_.gathers.size(), 0);
  gather_of_.assign(trace_.parameters.size(), -1);
  for (Tensor& parameter : whole_) held_.Free(&parameter);
}

void Zero3Hooks::Start(int gather) {
  if (gather < 0) return;
  CommCall call;
  call.collective = CollectiveType::kAllGather;
  call.type = c_.job.training.precision.type;
  call.count = plan_.gathers[static_cast<size_t>(gather)].elements;
  call.group_size = c_.layout.gradient_ranks();
  HoldParameters(gather);
  ProgramBuilder::OpId& running = running_[static_cast<size_t>(gather)];
  const int64_t share = call.count / call.group_size * SizeOf(call.type).count();
  running = c_.job.zero.offload_param ? offload_.Load("zero.parameters", share)
                                      : ProgramBuilder::kNothing;
  if (call.group_size < 2) return;
  running = c_.builder->StartCollective(kDataRole, kDataStream, call, running);
}

// A gather of one parameter writes the parameter.
void Zero3Hooks::HoldParameters(int gather) {
  const ZeroFetch& fetch = plan_.gathers[static_cast<size_t>(gather)];
  for (const int parameter : fetch.parameters) {
    gather_of_[static_cast<size_t>(parameter)] = gather;
  }
  unused_[static_cast<size_t>(gather)] = fetch.parameters.size();
  const Tensor tensor = held_.Hold(HeldKind::kGathered, fetch.elements * TypeBytes());
  if (fetch.parameters.size() > 1) {
    flat_[static_cast<size_t>(gather)] = tensor;
  } else {
    whole_[static_cast<size_t>(fetch.parameters.front())] = tensor;
  }
}

// A parameter's use drops its handle (__inflight_param_registry of
// partitioned_param_coordinator.py), and the last handle of a gather has its buffer.
void Zero3Hooks::Use(const std::vector<int>& parameters) {
  for (const int parameter : parameters) {
    const int gather = std::exchange(gather_of_[static_cast<size_t>(parameter)], -1);
    if (gather < 0 || --unused_[static_cast<size_t>(gather)] > 0) continue;
    held_.Free(&flat_[static_cast<size_t>(gather)]);
  }
}

void Zero3Hooks::Wait(int gather) {
  c_.builder->Wait(running_[static_cast<size_t>(gather)]);
  const ZeroFetch& fetch = plan_.gathers[static_cast<size_t>(gather)];
  if (fetch.parameters.size() < 2 || c_.layout.gradient_ranks() < 2) return;
  for (const int parameter : fetch.parameters) {
    const auto index = static_cast<size_t>(parameter);
    held_.Hold(&whole_[index], HeldKind::kGathered, trace_.parameters[index] * TypeBytes());
  }
  // Assembles each parameter from the shards of all ranks.
  c_.builder->Compute(StepWork("zero.copy-out", submodule::GradientScale{{fetch.elements}},
                               c_.job.training.precision.type, c_.tables));
}

void Zero3Hooks::BeforeForward(const GroupPass& pass) { TimeMicrobatch(t_, pass); }

void Zero3Hooks::BeforeModule(const GroupPass& pass, ModulePass part, size_t module) {
  FetchFor(pass, part, module);
  if (part != ModulePass::kBackward) return;
  for (const int64_t elements : t_.Group(pass.group).modules[module].parameters) {
    gradients_.push_back(held_.Hold(HeldKind::kBuffers, elements * TypeBytes()));
  }
}

const ZeroFetchStep* Zero3Hooks::StepOf(const GroupPass& pass, ModulePass part,
                                        size_t module) const {
  if (c_.layout.gradient_ranks() < 2 && !c_.job.zero.offload_param) return nullptr;
  const auto place = trace_.step_of.find({pass.group, part, module});
  return place == trace_.step_of.end() ? nullptr : &plan_.steps[place->second];
}

void Zero3Hooks::FetchFor(const GroupPass& pass, ModulePass part, size_t module) {
  const ZeroFetchStep* step = StepOf(pass, part, module);
  if (step == nullptr) return;
  if (step == plan_.steps.data()) Begin();
  Start(step->own);
  if (!c_.job.zero.overlap_comm) Start(step->prefetch);
  for (const int gather : step->waits) Wait(gather);
  Use(trace_.steps[static_cast<size_t>(step - plan_.steps.data())]);
  if (c_.job.zero.overlap_comm) Start(step->prefetch);
}

void Zero3Hooks::AfterModule(const GroupPass& pass, ModulePass part, size_t module) {
  if (const ZeroFetchStep* step = StepOf(pass, part, module)) {
    for (const int parameter : step->releases) {
      held_.Free(&whole_[static_cast<size_t>(parameter)]);
    }
  }
  if (part != ModulePass::kBackward) return;
  buckets_.BeginMicrobatch(pass.microbatch);
  const std::vector<int64_t>& parameters = t_.Group(pass.group).modules[module].parameters;
  for (size_t i = parameters.size(); i-- > 0;) buckets_.Add(parameters[i], 0, gradients_[i]);
  gradients_.clear();
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
  ZeroStep(c_, &held_).Write(share * ranks, persistent, 0);
}

}  // namespace drydock
