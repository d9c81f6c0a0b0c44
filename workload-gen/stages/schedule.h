// The order in which a pipeline stage works on its micro-batches and exchanges messages with its
// neighbors: 1F1B (Narayanan et al., SC'19) and its interleaved form over virtual stages
// (Narayanan et al., SC'21), as Megatron's schedules.py runs them. Pure functions of a few counts.
//
// Virtual stage v = chunk * stages + stage. Boundary v lies between virtual stages v and v+1:
// activations cross it forward, gradients backward.
#ifndef DRYDOCK_WORKLOAD_GEN_STAGES_SCHEDULE_H_
#define DRYDOCK_WORKLOAD_GEN_STAGES_SCHEDULE_H_

#include <cstdint>
#include <string>
#include <vector>

namespace drydock {

struct PipelineShape {
  int stages = 1;
  int stage = 0;
  int chunks = 1;  // > 1: interleaved
  int microbatches = 1;
  bool overlap = false;           // interleaved only: p2p beside compute
  bool overlap_wait_send = true;  // a forward send is waited for before the next backward
  int group = 0;  // interleaved: micro-batches that pass through a chunk together; 0: stages
  // A forward and a backward run together (combined_1f1b.py): with one stage, or interleaved. One
  // more forward precedes the first pair.
  bool combined = false;
};

// One micro-batch of one chunk, forward or backward.
struct StageWork {
  bool backward = false;
  int microbatch = 0;
  int chunk = 0;
  bool operator==(const StageWork&) const = default;
};

// The compute order.
struct WorkOrder {
  std::vector<StageWork> steps;
  int warmup = 0;  // forwards before the first backward
};
WorkOrder MakeWorkOrder(const PipelineShape& shape);

enum class Direction : uint8_t { kSendNext, kRecvPrev, kSendPrev, kRecvNext };

struct Exchange {
  Direction direction = Direction::kSendNext;
  int microbatch = 0;
  int boundary = 0;
  bool operator==(const Exchange&) const = default;
};

// The whole schedule: compute; a forward and a backward together; post (start these exchanges
// together); wait (compute continues when these exchanges have ended).
struct Action {
  enum class Kind : uint8_t { kCompute, kTogether, kPost, kWait };
  Kind kind = Kind::kCompute;
  StageWork work;                   // kCompute; kTogether: the forward
  std::vector<Exchange> exchanges;  // kPost, kWait
  bool synchronous = false;         // kWait: of a batched call that just returned
  StageWork backward = {};          // kTogether
};
std::vector<Action> MakeSchedule(const PipelineShape& shape);

// "F0.1": forward of micro-batch 0, chunk 1.
std::string ToString(const StageWork& work);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_STAGES_SCHEDULE_H_
