#include "workload-gen/program/sample_loader.h"

#include "core/model/sample_read.h"

namespace drydock {
namespace {

// Micro-batches that are read ahead: two workers (Megatron-LM's --num-workers) times two
// (PyTorch's prefetch_factor), their defaults.
constexpr int kReadAhead = 4;

}  // namespace

void SampleLoader::Begin() {
  const Time sample = c_.job.training.host.sample_time;
  if (sample == Time() || (c_.stage != 0 && c_.stage != c_.layout.pipeline - 1)) return;
  MemoryTransfer read;
  read.name = kSampleRead;
  read.time = sample * c_.job.training.batch.micro;
  for (int i = 0; i < c_.layout.microbatches; ++i) {
    c_.builder->SetPlace(-1, i, 0);
    reads_.push_back(c_.builder->LoadData(read));
  }
}

void SampleLoader::BeforeForward(int microbatch) {
  if (reads_.empty() || microbatch < kReadAhead) return;
  c_.builder->Wait(reads_[static_cast<size_t>(microbatch - kReadAhead)]);
}

}  // namespace drydock
