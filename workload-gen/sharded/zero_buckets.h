// DeepSpeed's gradient buckets. Each complete gradient is copied into one buffer. If it does not
// fit (reduce_bucket_size), the content of the buffer is reduced first.
#ifndef DRYDOCK_WORKLOAD_GEN_SHARDED_ZERO_BUCKETS_H_
#define DRYDOCK_WORKLOAD_GEN_SHARDED_ZERO_BUCKETS_H_

#include <vector>

#include "workload-gen/sharded/offload.h"
#include "workload-gen/sharded/torch_stage.h"

namespace drydock {

class ZeroBuckets {
 public:
  // `experts`: for gradients of experts, which the ranks with the same experts reduce.
  ZeroBuckets(const WriterContext& context, const ZeroRules& rules, bool experts = false)
      : c_(context),
        rules_(rules),
        experts_(experts),
        ranks_(experts ? context.layout.expert_data() : context.layout.gradient_ranks()),
        offload_(context) {}

  void BeginMicrobatch(int microbatch) { offload_.BeginMicrobatch(microbatch); }
  void Add(int64_t elements);
  // Reduces the content of the buffer.
  void Flush();
  // Flushes the buffer; the compute stream then waits for all reductions.
  void Finish();

 private:
  void Copy(const char* name);
  CommCall Call() const;

  const WriterContext& c_;
  const ZeroRules& rules_;
  const bool experts_;
  const int ranks_;
  ZeroGradientOffload offload_;
  int64_t elements_ = 0;  // in the buffer
  int64_t padded_ = 0;    // elements, each gradient padded to a multiple of the ranks
  ProgramBuilder::OpId running_ = ProgramBuilder::kNothing;
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_SHARDED_ZERO_BUCKETS_H_
