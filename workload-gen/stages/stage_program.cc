#include "workload-gen/stages/stage_program.h"

#include <algorithm>
#include <optional>

#include "workload-gen/layers/edge_program.h"
#include "workload-gen/layers/layer_program.h"
#include "workload-gen/layers/mtp_program.h"
#include "workload-gen/program/deferred_gradients.h"
#include "workload-gen/program/fp8_scales.h"
#include "workload-gen/program/module_offload.h"
#include "workload-gen/program/sample_loader.h"
#include "workload-gen/stages/activation_offload.h"
#include "workload-gen/stages/combined_stage.h"
#include "workload-gen/stages/data_parallel.h"
#include "workload-gen/stages/pipeline_exchange.h"
#include "workload-gen/stages/schedule.h"
#include "workload-gen/stages/step_tail.h"
#include "workload-gen/stages/unit_gather.h"

namespace drydock {
namespace {

class StageWriter {
 public:
  StageWriter(const TrainingJob& job, const ParallelLayout& layout, const RankWork& work, int stage,
              const ShardRoles& shards, WorkTables* tables)
      : builder_(tables),
        c_{job, layout, work, tables, &builder_, stage, nullptr, shards},
        chunks_(MakeChunkBuckets(job, layout, stage)),
        reduction_(c_, &chunks_),
        gather_(c_, &chunks_),
        units_(c_, &chunks_),
        offload_(c_),
        deferred_(&builder_, &reduction_),
        layers_(c_, &deferred_),
        edges_(c_, &reduction_),
        mtp_(c_, &layers_, &edges_, &deferred_),
        combined_(c_, &layers_, &edges_, &mtp_, &reduction_, &gather_, &deferred_),
        exchanges_(c_, job.training.p2p.batch_sync) {
    c_.weights = &deferred_;
    if (!job.training.module_offload.any()) return;
    modules_.emplace(c_, Backwards());
    c_.offload = &*modules_;
  }

  Program Write() {
    builder_.SetGraphs(c_.job.training.host.cuda_graphs, c_.work.graph_copies);
    builder_.SetPhase(Phase::kForward);
    samples_.Begin();
    gather_.Begin();
    units_.Begin();
    for (const Action& action : MakeSchedule(PipelineShapeOf(c_))) {
      switch (action.kind) {
        case Action::Kind::kCompute:
          if (action.work.backward)
            Compute(nullptr, &action.work);
          else
            Compute(&action.work, nullptr);
          break;
        case Action::Kind::kTogether:
          Compute(&action.work, &action.backward);
          break;
        case Action::Kind::kPost:
          Post(action.exchanges);
          break;
        case Action::Kind::kWait:
          exchanges_.Wait(action);
          break;
      }
    }
    StepTail(c_, chunks_).Write(&reduction_, &gather_);
    return builder_.Finish();
  }

 private:
  std::vector<ModuleOffload::Pass> Backwards() const {
    std::vector<ModuleOffload::Pass> passes;
    for (const Action& action : MakeSchedule(PipelineShapeOf(c_))) {
      const bool together = action.kind == Action::Kind::kTogether;
      if (!together && action.kind != Action::Kind::kCompute) continue;
      const StageWork& work = together ? action.backward : action.work;
      if (work.backward) passes.emplace_back(work.microbatch, work.chunk);
    }
    return passes;
  }

  // Writes a forward, a backward, or both together.
  void Compute(const StageWork* forward, const StageWork* backward) {
    const bool timed = c_.job.training.host.synchronous_timers;
    if (timed) builder_.HostSynchronizes();
    if (forward != nullptr) samples_.BeforeForward(forward->microbatch);
    if (backward != nullptr) BeginBackward(*backward);
    if (c_.job.overlap.expert)
      combined_.Write(forward, backward);
    else if (backward != nullptr)
      Backward(backward->microbatch, backward->chunk);
    else
      Forward(forward->microbatch, forward->chunk);
    if (backward != nullptr) EndBackward(*backward);
    if (timed) builder_.HostSynchronizes();
  }

  // The gradients of the first stage are complete last, so only this stage reduces bucket by
  // bucket.
  void BeginBackward(const StageWork& work) {
    const bool last = work.microbatch == c_.layout.microbatches - 1;
    if (c_.job.megatron_fsdp.any()) return BeginUnits(last);
    const bool by_bucket = c_.job.overlap.grad_reduce && c_.layout.chunks == 1 && c_.stage == 0;
    if (last && by_bucket) reduction_.Arm(0);
  }

  void BeginUnits(bool last) {
    units_.BeginBackward();
    reduction_.SetLast(last);
    by_unit_ = c_.job.megatron_fsdp.shards_gradients() || (last && c_.job.overlap.grad_reduce);
    if (by_unit_) reduction_.Arm(0);
  }

  void EndBackward(const StageWork& work) {
    finished_backwards_.push_back(work);
    if (by_unit_) reduction_.FinishMicrobatch();
    if (c_.job.overlap.grad_reduce && c_.layout.chunks > 1) ReduceFinishedChunk();
  }

  // Messages follow compute; if two micro-batches ran together, each follows its own micro-batch.
  void Post(const std::vector<Exchange>& exchanges) {
    const Direction direction = exchanges.front().direction;
    const bool gradient = direction == Direction::kSendPrev || direction == Direction::kRecvNext;
    std::optional<ProgramBuilder::Point> point = combined_.end(gradient);
    if (!point) return exchanges_.Post(exchanges);
    builder_.BeginBeside(kExpertStream, *point);
    exchanges_.Post(exchanges);
    builder_.EndBeside(&*point);
  }

  // Stage r reduces a chunk r backward passes after the chunk's last one, so that all stages reduce
  // at the same time.
  void ReduceFinishedChunk() {
    const size_t done = finished_backwards_.size();
    const auto lag = static_cast<size_t>(c_.stage);
    if (done <= lag) return;
    const StageWork& work = finished_backwards_[done - 1 - lag];
    if (work.microbatch == c_.layout.microbatches - 1) reduction_.Reduce(work.chunk);
  }

  void Forward(int microbatch, int chunk) {
    const bool first = c_.IsFirst(chunk), last = c_.IsLast(chunk);
    builder_.SetPlace(-1, microbatch, chunk);
    builder_.SetPhase(Phase::kForward);
    edges_.Batch(first || c_.HasMtpLayers(chunk), last);
    const auto gather = [&](int layer) {
      units_.BeforeForward(layer);
      if (microbatch == 0) gather_.BeforeForward(chunk, layer);
    };
    if (first) {
      gather(ParameterGather::kEmbedding);
      edges_.EmbeddingForward();
    }
    const int end = c_.layout.EndLayer(c_.stage, chunk);
    for (int layer = c_.layout.FirstLayer(c_.stage, chunk); layer < end; ++layer) {
      if (microbatch == 0) gather_.BeforeForward(chunk, layer);
      builder_.SetPlace(layer, microbatch, chunk);
      units_.BeforeForward(layer);
      offload_.BeforeForward(layer);
      layers_.Forward(layer);
      units_.AfterForward(layer);
      offload_.AfterForward(layer);
    }
    builder_.SetPlace(-1, microbatch, chunk);
    ReduceScales(c_, chunk, kForwardScales);
    if (c_.HasFinalNorm(chunk)) {
      gather(ParameterGather::kHead);
      edges_.HeadNormForward();
    }
    if (c_.HasMtpLayers(chunk)) {
      gather(ParameterGather::kEmbedding);
      const int mtp_end = c_.layout.EndMtpLayer(c_.stage, chunk);
      for (int k = c_.layout.FirstMtpLayer(c_.stage, chunk); k < mtp_end; ++k) {
        gather(c_.job.model.layers + k);
      }
      MtpForward(microbatch, chunk);
    }
    if (!last) return;
    if (!c_.HasFinalNorm(chunk)) gather(ParameterGather::kHead);
    for (int k = 0; k <= c_.job.model.mtp_layers; ++k) edges_.LogitsForward();
  }

  void MtpForward(int microbatch, int chunk) {
    const int end = c_.layout.EndMtpLayer(c_.stage, chunk);
    for (int k = c_.layout.FirstMtpLayer(c_.stage, chunk); k < end; ++k) {
      builder_.SetPlace(c_.job.model.layers + k, microbatch, chunk);
      mtp_.Forward(k);
      units_.AfterForward(c_.job.model.layers + k);
    }
    builder_.SetPlace(-1, microbatch, chunk);
  }

  // The gradients of the weights that MTP layers share are complete last.
  void MtpBackward(int microbatch, int chunk) {
    const int begin = c_.layout.FirstMtpLayer(c_.stage, chunk);
    for (int k = c_.layout.EndMtpLayer(c_.stage, chunk); k-- > begin;) {
      builder_.SetPlace(c_.job.model.layers + k, microbatch, chunk);
      units_.BeforeBackward(c_.job.model.layers + k);
      mtp_.Backward(k);
      units_.AfterBackward(c_.job.model.layers + k);
    }
    builder_.SetPlace(-1, microbatch, chunk);
    if (c_.layout.pipeline > 1) reduction_.OnGradient(ParameterKind::kWordEmbedding, -1);
  }

  // Before backward, the host reads whether the loss is a number (loss_func of pretrain_gpt.py). A
  // graph of a whole pass leaves that out.
  void CheckLoss() {
    const bool whole = c_.job.training.host.cuda_graphs.scope == GraphScope::kFull;
    if (c_.job.training.optimizer.check_gradients && !whole) builder_.HostReads();
  }

  // In backward, the logits of MTP layers precede the layers.
  void HeadBackward(int microbatch, int chunk) {
    const bool last = c_.IsLast(chunk);
    if (last) CheckLoss();
    for (int k = 0; last && k <= c_.job.model.mtp_layers; ++k) edges_.LogitsBackward();
    if (c_.HasMtpLayers(chunk)) MtpBackward(microbatch, chunk);
    if (last) reduction_.OnGradient(ParameterKind::kHead, -1);
    if (c_.HasFinalNorm(chunk)) edges_.HeadNormBackward();
  }

  void Backward(int microbatch, int chunk) {
    builder_.SetPlace(-1, microbatch, chunk);
    builder_.SetPhase(Phase::kBackward);
    HeadBackward(microbatch, chunk);
    const int begin = c_.layout.FirstLayer(c_.stage, chunk);
    int end = c_.layout.EndLayer(c_.stage, chunk);
    while (end > begin) {
      const int size = RecomputedTogether(begin, end, chunk);
      if (size == 1) units_.BeforeBackward(end - 1);
      if (size > 0) Recompute(end - size, end, microbatch, chunk);
      const int down_to = end - std::max(size, 1);
      for (; end > down_to; --end) {
        builder_.SetPlace(end - 1, microbatch, chunk);
        units_.BeforeBackward(end - 1);
        offload_.BeforeBackward(end - 1);
        layers_.Backward(end - 1);
        units_.AfterBackward(end - 1);
      }
    }
    builder_.SetPlace(-1, microbatch, chunk);
    ReduceScales(c_, chunk, kBackwardScales);
    if (c_.IsFirst(chunk)) edges_.EmbeddingBackward();
  }

  // Returns the number of layers before `end` that were saved together: only the input of the first
  // was kept.
  int RecomputedTogether(int begin, int end, int chunk) const {
    const RecomputeRules& rules = c_.job.training.recompute;
    if (!c_.RepeatsLayer(end - 1, chunk)) return 0;
    if (rules.method == RecomputeMethod::kBlock) return 1;
    const int remainder = (end - begin) % rules.layers;
    return remainder != 0 ? remainder : rules.layers;
  }

  void Recompute(int begin, int end, int microbatch, int chunk) {
    builder_.SetPhase(Phase::kRecompute);
    for (int layer = begin; layer < end; ++layer) {
      builder_.SetPlace(layer, microbatch, chunk);
      units_.BeforeRepeated(layer);
      layers_.Forward(layer);
    }
    builder_.SetPhase(Phase::kBackward);
  }

  ProgramBuilder builder_;
  WriterContext c_;
  std::vector<ChunkBuckets> chunks_;
  GradientReduction reduction_;
  ParameterGather gather_;
  UnitGather units_;
  ActivationOffload offload_;
  std::optional<ModuleOffload> modules_;
  DeferredGradients deferred_;
  LayerWriter layers_;
  EdgeWriter edges_;
  MtpWriter mtp_;
  CombinedStage combined_;
  PipelineExchanges exchanges_;
  SampleLoader samples_{c_};
  std::vector<StageWork> finished_backwards_;
  bool by_unit_ = false;  // the running backward reduces Megatron-FSDP's units
};

}  // namespace

Program WriteStageProgram(const TrainingJob& job, const ParallelLayout& layout,
                          const RankWork& work, int stage, const ShardRoles& shards,
                          WorkTables* tables) {
  return StageWriter(job, layout, work, stage, shards, tables).Write();
}

}  // namespace drydock
