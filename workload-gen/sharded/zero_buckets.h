// DeepSpeed's gradient buckets. Each complete gradient is copied into one buffer. If it does not
// fit (reduce_bucket_size), the content of the buffer is reduced first.
#ifndef DRYDOCK_WORKLOAD_GEN_SHARDED_ZERO_BUCKETS_H_
#define DRYDOCK_WORKLOAD_GEN_SHARDED_ZERO_BUCKETS_H_

#include <vector>

#include "workload-gen/sharded/held_tensors.h"
#include "workload-gen/sharded/offload.h"
#include "workload-gen/sharded/torch_stage.h"

namespace drydock {

// DeepSpeed aligns each rank's share of the flat buffer to this many elements (NCCL's alignment).
inline constexpr int64_t kShareAlignment = 2;
inline int64_t ZeroShare(int64_t elements, int64_t ranks) {
  const int64_t unit = ranks * kShareAlignment;
  return (elements + unit - 1) / unit * kShareAlignment;
}

class ZeroBuckets {
 public:
  // `experts`: for gradients of experts, which the ranks with the same experts reduce.
  ZeroBuckets(const WriterContext& context, const ZeroRules& rules, HeldTensors* held,
              bool experts = false)
      : c_(context),
        rules_(rules),
        held_(held),
        experts_(experts),
        ranks_(experts ? context.layout.expert_data() : context.layout.gradient_ranks()),
        offload_(context) {}

  void BeginMicrobatch(int microbatch) { offload_.BeginMicrobatch(microbatch); }
  // Stages 1 and 2: the elements of the flat buffer of all parameters that a rank keeps.
  void SetShare(int64_t elements) { share_ = elements; }
  // `offset`: of the gradient in that buffer. `gradient`: its tensor, which is freed.
  void Add(int64_t elements, int64_t offset = 0, HeldTensors::Tensor gradient = {});
  // Reduces the content of the buffer.
  void Flush();
  // Flushes the buffer; the compute stream then waits for all reductions.
  void Finish();

 private:
  void Copy(const char* name);
  CommCall Call() const;
  // The counts of the calls that reduce the buffer's content.
  std::vector<int64_t> Pieces(int64_t whole) const;
  // The copies that a reduction makes.
  void HoldCopies();

  const WriterContext& c_;
  const ZeroRules& rules_;
  HeldTensors* const held_;
  const bool experts_;
  const int ranks_;
  ZeroGradientOffload offload_;
  int64_t share_ = 0;
  int64_t elements_ = 0;  // in the buffer
  int64_t offset_ = 0;    // of the first of them
  int64_t padded_ = 0;    // elements, each gradient padded to a multiple of the ranks
  int gradients_ = 0;     // in the buffer
  HeldTensors::Tensor large_;  // a gradient that does not fit the buffer
  ProgramBuilder::OpId running_ = ProgramBuilder::kNothing;
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_SHARDED_ZERO_BUCKETS_H_
