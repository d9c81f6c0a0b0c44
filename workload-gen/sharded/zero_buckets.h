// DeepSpeed's gradient buckets: gradients are copied into one buffer as they are complete; one that
// does not fit any more sends the buffer off first (reduce_bucket_size).
#ifndef DRYDOCK_WORKLOAD_GEN_SHARDED_ZERO_BUCKETS_H_
#define DRYDOCK_WORKLOAD_GEN_SHARDED_ZERO_BUCKETS_H_

#include <vector>

#include "workload-gen/sharded/offload.h"
#include "workload-gen/sharded/torch_stage.h"

namespace drydock {

class ZeroBuckets {
 public:
  // `experts`: of those, whose gradients the ranks with the same experts share.
  ZeroBuckets(const WriterContext& context, const ZeroRules& rules, bool experts = false)
      : c_(context),
        rules_(rules),
        experts_(experts),
        ranks_(experts ? context.layout.expert_data() : context.layout.gradient_ranks()),
        offload_(context) {}

  void BeginMicrobatch(int microbatch) { offload_.BeginMicrobatch(microbatch); }
  void Add(int64_t elements);
  // Reduces what is in the buffer.
  void Flush();
  // Flush; the compute stream waits for everything.
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
  int64_t padded_ = 0;    // each gradient padded to the ranks
  ProgramBuilder::OpId running_ = ProgramBuilder::kNothing;
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_SHARDED_ZERO_BUCKETS_H_
