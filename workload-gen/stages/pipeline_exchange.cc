#include "workload-gen/stages/pipeline_exchange.h"

#include "core/base/check.h"

namespace drydock {

PipelineShape PipelineShapeOf(const WriterContext& c) {
  return {c.layout.pipeline,         c.stage,
          c.layout.chunks,           c.layout.microbatches,
          c.job.overlap.p2p,         c.job.overlap.p2p_wait_send,
          c.layout.microbatch_group, c.job.overlap.expert};
}

bool PipelineExchanges::SplitOverTensor() const {
  return c_.layout.tensor > 1 &&
         (c_.layout.sequence_parallel || c_.job.training.p2p.scatter_gather);
}

void PipelineExchanges::Post(const std::vector<Exchange>& exchanges) {
  for (const Exchange& exchange : exchanges) {
    const auto [place, added] = posted_.emplace(KeyOf(exchange), Start(exchange));
    CHECK_NOTE(added, "an exchange posted twice");
  }
}

ProgramBuilder::OpId PipelineExchanges::Start(const Exchange& e) {
  const bool next = e.direction == Direction::kSendNext || e.direction == Direction::kRecvNext;
  const bool send = e.direction == Direction::kSendNext || e.direction == Direction::kSendPrev;
  const bool gradient = e.direction == Direction::kSendPrev || e.direction == Direction::kRecvNext;
  const int mine = next ? e.boundary : e.boundary + 1;  // virtual stage
  SetPlace(gradient, e.microbatch, mine / c_.layout.pipeline);
  const int other = (next ? mine + 1 : mine - 1) % c_.layout.pipeline;
  CommCall call;
  call.collective = CollectiveType::kSendRecv;
  call.type = c_.job.training.precision.type;
  // After the MTP layers, a message also carries their rows to the loss.
  const int64_t tensors = 1 + c_.layout.MtpLayersUpTo(e.boundary);
  call.count = tensors * c_.ActivationCount() / (SplitOverTensor() ? c_.layout.tensor : 1);
  call.group_size = 2;
  const bool from_lower = send ? c_.stage < other : other < c_.stage;
  call.root = from_lower ? 0 : 1;
  call.peer = 1 - call.root;
  constexpr Stream kStreams[] = {kSendNextStream, kRecvPrevStream, kSendPrevStream,
                                 kRecvNextStream};
  const int tag = 2 * (e.microbatch * c_.layout.virtual_stages() + e.boundary) + (gradient ? 1 : 0);
  return c_.builder->Transfer(send ? OpKind::kSend : OpKind::kRecv, next ? kNextRole : kPrevRole,
                              kStreams[static_cast<size_t>(e.direction)], call, tag);
}

void PipelineExchanges::SetPlace(bool gradient, int microbatch, int chunk) {
  c_.builder->SetPhase(gradient ? Phase::kBackward : Phase::kForward);
  c_.builder->SetPlace(-1, microbatch, chunk);
}

void PipelineExchanges::Wait(const Action& action) {
  for (const Exchange& e : action.exchanges) {
    const auto place = posted_.find(KeyOf(e));
    CHECK_NOTE(place != posted_.end(), "a wait for an exchange that was not posted");
    c_.builder->Wait(place->second);
    posted_.erase(place);
  }
  if (action.synchronous && device_sync_) c_.builder->WaitForAll();
  if (SplitOverTensor() && !c_.layout.sequence_parallel) Reassemble(action.exchanges);
}

void PipelineExchanges::Reassemble(const std::vector<Exchange>& exchanges) {
  for (const Exchange& e : exchanges) {
    const bool previous = e.direction == Direction::kRecvPrev;
    if (!previous && e.direction != Direction::kRecvNext) continue;
    const int mine = previous ? e.boundary + 1 : e.boundary;
    SetPlace(!previous, e.microbatch, mine / c_.layout.pipeline);
    tensor_.AllGather();
  }
}

}  // namespace drydock
