#include "workload-gen/sharded/zero_buckets.h"

namespace drydock {

void ZeroBuckets::Add(int64_t elements) {
  if (elements_ > 0 && elements_ + elements > rules_.reduce_bucket_size) Flush();
  elements_ += elements;
  padded_ += (elements + ranks_ - 1) / ranks_ * ranks_;
}

void ZeroBuckets::Copy(const char* name) {
  c_.builder->Compute(StepWork(name, submodule::GradientScale{{elements_}},
                               c_.job.training.precision.type, c_.tables));
}

CommCall ZeroBuckets::Call() const {
  const bool scatter = rules_.stage == 3 || rules_.reduce_scatter;
  CommCall call;
  call.collective = scatter ? CollectiveType::kReduceScatter : CollectiveType::kAllReduce;
  call.type = c_.job.training.precision.type;
  call.count = scatter ? padded_ : elements_;
  call.group_size = ranks_;
  return call;
}

void ZeroBuckets::Flush() {
  if (elements_ == 0) return;
  ProgramBuilder& b = *c_.builder;
  const Phase phase = b.phase();
  b.SetPhase(Phase::kGradientSync);
  Copy("zero.bucket-copy");
  if (rules_.stage == 3) Copy("zero.order-by-rank");
  Copy("zero.average");
  // With overlap_comm, one reduction is in flight and the next one waits for it.
  b.Wait(running_);
  running_ = b.StartCollective(experts_ ? kExpertDataRole : kDataRole,
                               experts_ ? kExpertDataStream : kDataStream, Call());
  if (!rules_.overlap_comm) b.Wait(running_);
  offload_.AfterReduction(padded_ / ranks_, running_);
  b.SetPhase(phase);
  elements_ = padded_ = 0;
}

void ZeroBuckets::Finish() {
  Flush();
  c_.builder->Wait(running_);
}

}  // namespace drydock
