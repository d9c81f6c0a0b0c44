#include "workload-gen/sharded/zero_buckets.h"

#include <algorithm>

namespace drydock {

void ZeroBuckets::Add(int64_t elements, int64_t offset, HeldTensors::Tensor gradient) {
  if (elements_ > 0 && elements_ + elements > rules_.reduce_bucket_size) Flush();
  if (elements_ == 0) offset_ = offset;
  if (elements > rules_.reduce_bucket_size) {
    large_ = gradient;
  } else {
    held_->Free(&gradient);
  }
  ++gradients_;
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

// average_tensor and allreduce_and_scatter of stage_1_and_2.py cut a bucket where another rank's
// share begins, and reduce the pieces together as soon as they pass the size of a bucket. Only a
// gradient that is larger than a bucket does so.
std::vector<int64_t> ZeroBuckets::Pieces(int64_t whole) const {
  if (rules_.stage == 3 || rules_.reduce_scatter || share_ == 0 ||
      elements_ <= rules_.reduce_bucket_size) {
    return {whole};
  }
  std::vector<int64_t> pieces = {0};
  for (int64_t at = offset_; at < offset_ + elements_;) {
    const int64_t end = std::min((at / share_ + 1) * share_, offset_ + elements_);
    if (pieces.back() > rules_.reduce_bucket_size) pieces.push_back(0);
    pieces.back() += end - at;
    at = end;
  }
  return pieces;
}

// Stages 1 and 2 flatten the pieces of a bucket that belong to several ranks (allreduce_bucket);
// stage 3 orders the parts of several gradients by rank (reduce_scatter_coalesced).
void ZeroBuckets::HoldCopies() {
  const int64_t type = SizeOf(c_.job.training.precision.type).count();
  if (rules_.stage == 3) {
    const bool in_place = gradients_ == 1 && padded_ == elements_;
    if (!in_place) held_->Touch(HeldKind::kBuffers, padded_ * type);
    return;
  }
  const bool several = share_ > 0 && offset_ / share_ != (offset_ + elements_ - 1) / share_;
  if (!several || rules_.reduce_scatter) return;
  const std::vector<int64_t> pieces = Pieces(elements_);
  held_->Touch(HeldKind::kBuffers, *std::max_element(pieces.begin(), pieces.end()) * type);
}

void ZeroBuckets::Flush() {
  if (elements_ == 0) return;
  ProgramBuilder& b = *c_.builder;
  const Phase phase = b.phase();
  b.SetPhase(Phase::kGradientSync);
  // A gradient that is larger than the buffer stays where it is.
  if (rules_.stage == 3 || elements_ <= rules_.reduce_bucket_size) Copy("zero.bucket-copy");
  if (rules_.stage == 3) Copy("zero.order-by-rank");
  Copy("zero.average");
  HoldCopies();
  // With overlap_comm, one reduction is in flight and the next one waits for it.
  CommCall call = Call();
  for (const int64_t piece : Pieces(call.count)) {
    call.count = piece;
    b.Wait(running_);
    running_ = b.StartCollective(experts_ ? kExpertDataRole : kDataRole,
                                 experts_ ? kExpertDataStream : kDataStream, call);
    if (!rules_.overlap_comm) b.Wait(running_);
  }
  offload_.AfterReduction(padded_ / ranks_, running_);
  b.SetPhase(phase);
  elements_ = padded_ = 0;
  gradients_ = 0;
  held_->Free(&large_);
}

void ZeroBuckets::Finish() {
  Flush();
  c_.builder->Wait(running_);
}

}  // namespace drydock
