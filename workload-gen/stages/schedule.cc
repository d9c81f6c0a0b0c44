#include "workload-gen/stages/schedule.h"

#include <fmt/format.h>

#include <algorithm>

namespace drydock {
namespace {

int GroupOf(const PipelineShape& shape) { return shape.group > 0 ? shape.group : shape.stages; }

// The k-th forward (backward) of a stage: groups of micro-batches pass through the chunks in turn,
// backward in reverse. The last group may be smaller.
StageWork NthWork(const PipelineShape& shape, bool backward, int k) {
  if (shape.chunks == 1) return {backward, k, 0};
  const int whole = GroupOf(shape);
  const int before = k / (whole * shape.chunks) * whole;  // micro-batches of earlier groups
  const int size = std::min(whole, shape.microbatches - before);
  const int in_group = k - before * shape.chunks;
  const int chunk = in_group / size;
  return {backward, before + in_group % size, backward ? shape.chunks - 1 - chunk : chunk};
}

class Scheduler {
 public:
  explicit Scheduler(const PipelineShape& shape)
      : shape_(shape),
        total_(shape.microbatches * shape.chunks),
        warmup_(MakeWorkOrder(shape).warmup) {}

  std::vector<Action> Run() {
    if (shape_.chunks == 1 && shape_.combined)
      OneStageCombined();
    else if (shape_.chunks == 1)
      OneForwardOneBackward();
    else if (shape_.overlap)
      InterleavedOverlapped();
    else
      InterleavedBatched();
    return std::move(actions_);
  }

 private:
  using List = std::vector<Exchange>;

  int Virtual(const StageWork& work) const { return work.chunk * shape_.stages + shape_.stage; }
  bool IsFirst(const StageWork& work) const { return Virtual(work) == 0; }
  bool IsLast(const StageWork& work) const {
    return Virtual(work) == shape_.stages * shape_.chunks - 1;
  }

  // The exchanges before and after forward or backward number k. The list is empty if there is no
  // such pass, or no neighbor on that side.
  List RecvPrev(int k) const { return Of(false, k, Direction::kRecvPrev); }
  List SendNext(int k) const { return Of(false, k, Direction::kSendNext); }
  List RecvNext(int k) const { return Of(true, k, Direction::kRecvNext); }
  List SendPrev(int k) const { return Of(true, k, Direction::kSendPrev); }

  List Of(bool backward, int k, Direction direction) const {
    if (k < 0 || k >= total_) return {};
    const StageWork work = NthWork(shape_, backward, k);
    const bool upstream = direction == Direction::kRecvPrev || direction == Direction::kSendPrev;
    if (upstream ? IsFirst(work) : IsLast(work)) return {};
    return {{direction, work.microbatch, upstream ? Virtual(work) - 1 : Virtual(work)}};
  }

  static List Together(std::initializer_list<List> lists) {
    List all;
    for (const List& list : lists) all.insert(all.end(), list.begin(), list.end());
    return all;
  }

  void Compute(bool backward, int k) {
    actions_.push_back({Action::Kind::kCompute, NthWork(shape_, backward, k), {}, false});
  }
  // Adds the next forward and the k-th backward.
  void ForwardAndBackward(int k) {
    const StageWork forward = NthWork(shape_, false, warmup_ + k);
    const StageWork backward = NthWork(shape_, true, k);
    if (shape_.combined) {
      actions_.push_back({Action::Kind::kTogether, forward, {}, false, backward});
      return;
    }
    actions_.push_back({Action::Kind::kCompute, forward, {}, false});
    actions_.push_back({Action::Kind::kCompute, backward, {}, false});
  }
  void Post(const List& list) {
    if (!list.empty()) actions_.push_back({Action::Kind::kPost, {}, list, false});
  }
  void Wait(List* list) {
    if (!list->empty()) actions_.push_back({Action::Kind::kWait, {}, *list, false});
    list->clear();
  }
  // One batched call: it returns when all its messages have ended.
  void PostAndWait(const List& list) {
    if (list.empty()) return;
    Post(list);
    actions_.push_back({Action::Kind::kWait, {}, list, true});
  }

  void OneForwardOneBackward() {
    const int steady = total_ - warmup_;
    for (int k = 0; k < warmup_; ++k) {
      PostAndWait(RecvPrev(k));
      Compute(false, k);
      PostAndWait(SendNext(k));
    }
    if (steady > 0) PostAndWait(RecvPrev(warmup_));
    for (int k = 0; k < steady; ++k) {
      Compute(false, warmup_ + k);
      PostAndWait(Together({SendNext(warmup_ + k), RecvNext(k)}));
      Compute(true, k);
      PostAndWait(Together({SendPrev(k), RecvPrev(warmup_ + k + 1)}));
    }
    for (int k = steady; k < total_; ++k) {
      PostAndWait(RecvNext(k));
      Compute(true, k);
      PostAndWait(SendPrev(k));
    }
  }

  // A single stage has no neighbor.
  void OneStageCombined() {
    for (int k = 0; k < warmup_; ++k) Compute(false, k);
    for (int k = 0; k < total_ - warmup_; ++k) ForwardAndBackward(k);
    for (int k = total_ - warmup_; k < total_; ++k) Compute(true, k);
  }

  void InterleavedBatched() {
    const int steady = total_ - warmup_;
    PostAndWait(RecvPrev(0));
    for (int k = 0; k < warmup_; ++k) {
      Compute(false, k);
      const bool last = k == warmup_ - 1;
      PostAndWait(Together({SendNext(k), RecvPrev(k + 1), last ? RecvNext(0) : List()}));
    }
    for (int k = 0; k < steady; ++k) {
      ForwardAndBackward(k);
      PostAndWait(Together(
          {SendPrev(k), RecvPrev(warmup_ + k + 1), SendNext(warmup_ + k), RecvNext(k + 1)}));
    }
    for (int k = steady; k < total_; ++k) {
      Compute(true, k);
      PostAndWait(Together({SendPrev(k), RecvNext(k + 1)}));
    }
  }

  // Compute waits for an exchange where it needs the data or the buffer next.
  void InterleavedOverlapped() {
    List forward = RecvPrev(0);
    List backward;
    Post(forward);
    const auto exchange = [&](bool is_backward, int k, bool waits) {
      List* pending = is_backward ? &backward : &forward;
      List sends = is_backward ? SendPrev(k) : SendNext(k);
      const List recvs = is_backward ? RecvNext(k + 1) : RecvPrev(k + 1);
      Post(Together({sends, recvs}));
      *pending = recvs;
      if (!is_backward && waits)
        Wait(&sends);
      else
        pending->insert(pending->begin(), sends.begin(), sends.end());
    };
    const auto step = [&](bool is_backward, int k) {
      Wait(is_backward ? &backward : &forward);
      Compute(is_backward, k);
      exchange(is_backward, k, shape_.overlap_wait_send);
    };
    // A send of the pair waits on the stream of the exchanges, not on that of compute.
    const auto pair = [&](int k) {
      Wait(&forward);
      Wait(&backward);
      ForwardAndBackward(k);
      exchange(false, warmup_ + k, false);
      exchange(true, k, false);
    };
    for (int k = 0; k < warmup_; ++k) step(false, k);
    backward = RecvNext(0);
    Post(backward);
    for (int k = 0; k < total_ - warmup_; ++k) {
      if (shape_.combined) {
        pair(k);
        continue;
      }
      step(false, warmup_ + k);
      step(true, k);
    }
    for (int k = total_ - warmup_; k < total_; ++k) step(true, k);
    Wait(&forward);
    Wait(&backward);
  }

  const PipelineShape shape_;
  const int total_;
  const int warmup_;
  std::vector<Action> actions_;
};

int WarmupForwards(const PipelineShape& shape) {
  const int behind = shape.stages - shape.stage - 1;
  const int more = shape.combined ? 1 : 0;
  if (shape.chunks == 1) return std::min(behind + more, shape.microbatches);
  return std::min(2 * behind + (shape.chunks - 1) * GroupOf(shape) + more,
                  shape.microbatches * shape.chunks);
}

}  // namespace

WorkOrder MakeWorkOrder(const PipelineShape& shape) {
  WorkOrder order;
  order.warmup = WarmupForwards(shape);
  const int total = shape.microbatches * shape.chunks;
  for (int k = 0; k < order.warmup; ++k) order.steps.push_back(NthWork(shape, false, k));
  for (int k = 0; k < total; ++k) {
    if (order.warmup + k < total) order.steps.push_back(NthWork(shape, false, order.warmup + k));
    order.steps.push_back(NthWork(shape, true, k));
  }
  return order;
}

std::vector<Action> MakeSchedule(const PipelineShape& shape) { return Scheduler(shape).Run(); }

std::string ToString(const StageWork& work) {
  return fmt::format("{}{}.{}", work.backward ? 'B' : 'F', work.microbatch, work.chunk);
}

}  // namespace drydock
