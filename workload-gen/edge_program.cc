#include "workload-gen/edge_program.h"

namespace drydock {

void EdgeWriter::Broadcast(DataType type) {
  CommCall call;
  call.collective = CollectiveType::kBroadcast;
  call.type = type;
  call.count = c_.job.model.sequence * c_.job.training.micro_batch;  // before it is cut for cp
  call.group_size = c_.layout.tensor;
  c_.builder->Collective(kTensorRole, kTensorStream, call);
}

void EdgeWriter::Batch(bool first, bool last) {
  if (first) {
    Broadcast(DataType::kInt64);  // tokens
    Broadcast(DataType::kInt64);  // positions
  }
  if (last) {
    Broadcast(DataType::kInt64);  // labels
    Broadcast(DataType::kFp32);   // loss mask
  }
}

void EdgeWriter::EmbeddingForward() {
  const EmbeddingWork& w = c_.work.embedding;
  c_.builder->Compute(w.lookup.forward);
  // Learned positions are added to whole rows, so the rows are split only after the sum.
  if (c_.layout.sequence_parallel && !w.positions)
    tensor_.ReduceScatter();
  else
    tensor_.AllReduce();
  if (w.positions) c_.builder->Compute(w.positions->forward);
  if (w.dropout) c_.builder->Compute(w.dropout->forward);
}

void EdgeWriter::EmbeddingBackward() {
  const EmbeddingWork& w = c_.work.embedding;
  if (w.dropout) c_.builder->Compute(w.dropout->backward);
  tensor_.Enter();
  if (w.positions) c_.builder->Compute(w.positions->backward);
  listener_->OnGradient(ParameterKind::kPositionEmbedding, -1);
  c_.builder->Compute(w.lookup.backward);
  listener_->OnGradient(ParameterKind::kWordEmbedding, -1);
}

void EdgeWriter::LossCollective(CollectiveType collective, ReduceOp op, int64_t count) {
  CommCall call;
  call.collective = collective;
  call.type = DataType::kFp32;
  call.op = op;
  call.count = count;
  call.group_size = c_.layout.tensor;
  c_.builder->Collective(kTensorRole, kTensorStream, call);
}

void EdgeWriter::HeadForward() {
  const HeadWork& w = c_.work.head;
  c_.builder->Compute(w.norm.forward);
  tensor_.Enter();
  c_.builder->Compute(w.logits.forward);
  c_.builder->Compute(w.loss.forward);
  const int64_t rows = c_.work.rows;
  switch (c_.job.training.cross_entropy_fusion) {
    case CrossEntropyFusion::kNone:
      LossCollective(CollectiveType::kAllReduce, ReduceOp::kMax, rows);  // largest logit
      LossCollective(CollectiveType::kAllReduce, ReduceOp::kSum, rows);  // the label's logit
      LossCollective(CollectiveType::kAllReduce, ReduceOp::kSum, rows);  // sum of exponentials
      break;
    case CrossEntropyFusion::kNative:
      LossCollective(CollectiveType::kAllReduce, ReduceOp::kMax, rows);
      LossCollective(CollectiveType::kAllReduce, ReduceOp::kSum, 2 * rows);
      break;
    case CrossEntropyFusion::kTransformerEngine:
      // Each rank gives its maximum, sum and label's logit.
      LossCollective(CollectiveType::kAllGather, ReduceOp::kSum, 3 * rows * c_.layout.tensor);
      break;
  }
}

void EdgeWriter::HeadBackward() {
  const HeadWork& w = c_.work.head;
  c_.builder->Compute(w.loss.backward);
  tensor_.ColumnBackward(w.logits);
  listener_->OnGradient(ParameterKind::kHead, -1);
  c_.builder->Compute(w.norm.backward);
  listener_->OnGradient(ParameterKind::kFinalNormBias, -1);
  listener_->OnGradient(ParameterKind::kFinalNormWeight, -1);
}

}  // namespace drydock
