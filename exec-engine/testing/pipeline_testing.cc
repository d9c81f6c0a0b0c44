#include "exec-engine/testing/pipeline_testing.h"

#include <map>
#include <random>
#include <utility>
#include <vector>

#include "exec-engine/testing/replica_testing.h"

namespace drydock::testing {
namespace {

Topology AnyCluster(const Layout& layout, std::mt19937* random) {
  Topology topology = SmallCluster(layout.hosts(), kReplicaGpus);
  const auto one_of = [random](uint32_t n) { return (*random)() % n; };
  for (CollectiveCosts::Protocol* p :
       {&topology.gpus[0].collectives.simple, &topology.gpus[0].collectives.p2p_simple}) {
    p->base = Time::Us(5);
    p->step = Time::Ns(700);
    p->proxy = Time::Ns(900);
  }
  ScaleUp& links = topology.host_kinds[0].scale_up;
  if (one_of(2) == 0) links.bandwidth = Bandwidth::FromBytesPerSecond(9e9);
  if (one_of(4) == 0) links.kind = ScaleUpKind::kPcie;  // shared with the NICs
  return topology;
}

// Writes the programs of all ranks. Equal blocks share a number, so that programs repeat.
class Writer {
 public:
  Writer(const Layout& layout, std::mt19937* random)
      : layout_(layout), b_(AnyCluster(layout, random)), random_(*random) {
    compute_ = b_.Stream("compute");
    tensor_ = b_.Stream("tp");
    data_ = b_.Stream("dp");
    for (int& stream : messages_)
      stream = b_.Stream("message" + std::to_string(&stream - messages_));
    tp_ = b_.Role("tp", Dimension::kTensor, layout.TensorGroups());
    dp_ = b_.Role("dp", Dimension::kData, layout.DataGroups());
    pairs_[0] = b_.Role("pp-even", Dimension::kPipeline, layout.Pairs(0));
    pairs_[1] = b_.Role("pp-odd", Dimension::kPipeline, layout.Pairs(1));
    for (Time& time : times_) time = Time::Us(50 + Pick(200));
    tensor_bytes_ = (1 + Pick(3)) << 18;
    message_bytes_ = (1 + Pick(4)) << 18;
    uneven_ = Pick(2) == 0;
    if (Pick(2) == 0) {
      b_.workload.launch = {"test",       Time::Us(10 + Pick(40)),
                            Time::Us(20), Time::Us(15),
                            Time::Us(20), Time::Us(5),
                            Time::Us(4),  1 + Pick(8)};
    }
  }

  WorkloadBuilder Write(int microbatches) {
    for (int rank = 0; rank < layout_.ranks(); ++rank) WriteRank(rank, microbatches);
    b_.PlanAll();
    return std::move(b_);
  }

 private:
  int64_t Pick(uint32_t n) { return static_cast<int64_t>(random_() % n); }

  void WriteRank(int rank, int microbatches) {
    last_ = {};
    const int ahead = std::min(layout_.stages - 1 - layout_.stage_of(rank), microbatches);
    for (int m = 0; m < ahead; ++m) Pass(rank, m, false);
    for (int m = 0; m < microbatches; ++m) {
      if (m + ahead < microbatches) Pass(rank, m + ahead, false);
      Pass(rank, m, true);
    }
    b_.Collective(rank, data_, dp_, CollectiveType::kAllReduce, 1 << 20, last_);
    b_.Compute(rank, compute_, Time::Us(70), last_);
  }

  // Receives, computes, sums over the tensor group, and sends on.
  void Pass(int rank, int m, bool backward) {
    const int stage = layout_.stage_of(rank), from = backward ? stage + 1 : stage - 1;
    const int to = backward ? stage - 1 : stage + 1;
    std::vector<uint32_t> before = last_;
    if (from >= 0 && from < layout_.stages) {
      before.push_back(Message(rank, std::min(stage, from), false, backward, m));
    }
    last_ = {Place(rank, m, Compute(rank, backward, before))};
    last_ = {
        Place(rank, m,
              b_.Collective(rank, tensor_, tp_, CollectiveType::kAllReduce, tensor_bytes_, last_))};
    if (to >= 0 && to < layout_.stages) {
      Message(rank, std::min(stage, to), true, backward, m);
    }
  }

  uint32_t Compute(int rank, bool backward, std::vector<uint32_t> before) {
    const int slow = uneven_ ? rank % kReplicaGpus : 0;
    const Time time = times_[layout_.stage_of(rank) * 2 + (backward ? 1 : 0)] + Time::Us(slow);
    const uint32_t op = b_.Compute(rank, compute_, time, std::move(before));
    uint32_t& work = b_.workload.programs[static_cast<size_t>(rank)].ops[op].work;
    work = blocks_.try_emplace(time, work).first->second;
    return op;
  }

  // With the stage after `lower`; a sender has computed what it sends.
  uint32_t Message(int rank, int lower, bool send, bool backward, int m) {
    const int stream = messages_[(send ? 2 : 0) + (backward ? 1 : 0)];
    std::vector<uint32_t> before;
    if (send) before = last_;
    return Place(rank, m,
                 b_.Transfer(rank, stream, pairs_[lower % 2], send, backward ? 1 : 0,
                             message_bytes_, 2 * m + (backward ? 1 : 0), before));
  }

  uint32_t Place(int rank, int m, uint32_t op) {
    b_.workload.programs[static_cast<size_t>(rank)].ops[op].microbatch = m;
    return op;
  }

  const Layout layout_;
  WorkloadBuilder b_;
  std::mt19937& random_;
  int compute_ = 0, tensor_ = 0, data_ = 0, tp_ = 0, dp_ = 0;
  int messages_[4] = {}, pairs_[2] = {};
  Time times_[6];
  int64_t tensor_bytes_ = 0, message_bytes_ = 0;
  bool uneven_ = false;  // GPUs of a host differ
  std::map<Time, uint32_t> blocks_;
  std::vector<uint32_t> last_;  // of the present rank: what its next pass follows
};

}  // namespace

WorkloadBuilder Pipeline(int microbatches, uint32_t seed) {
  std::mt19937 random(seed);
  Layout layout = RandomLayout(&random);
  layout.data = 2;
  return Writer(layout, &random).Write(microbatches);
}

}  // namespace drydock::testing
