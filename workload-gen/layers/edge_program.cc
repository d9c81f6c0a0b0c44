#include "workload-gen/layers/edge_program.h"

namespace drydock {

void EdgeWriter::Broadcast(DataType type) {
  CommCall call;
  call.collective = CollectiveType::kBroadcast;
  call.type = type;
  call.count =
      c_.job.model.sequence * c_.job.training.batch.micro;  // before context parallelism splits it
  call.group_size = c_.layout.tensor;
  c_.builder->Collective(kTensorRole, kTensorStream, call);
}

void EdgeWriter::Batch(bool first, bool last) {
  if (c_.work.embedding.patches) return;  // every rank loads its images
  if (first) Broadcast(DataType::kInt64);  // tokens
  if (last) {
    Broadcast(DataType::kInt64);  // labels
    Broadcast(DataType::kFp32);   // loss mask
  }
  if (first) Broadcast(DataType::kInt64);  // positions
}

void EdgeWriter::EmbeddingForward() {
  const EmbeddingWork& w = c_.work.embedding;
  if (w.patches)
    c_.builder->Compute(w.patches->forward);
  else
    LookupForward();
  if (w.positions) c_.builder->Compute(w.positions->forward);
  if (w.dropout) c_.builder->Compute(w.dropout->forward);
}

void EdgeWriter::LookupForward() {
  const EmbeddingWork& w = c_.work.embedding;
  c_.builder->Compute(w.lookup.forward);
  // Learned positions are added to whole rows, so the rows are split only after the sum.
  if (c_.layout.sequence_parallel && !w.positions)
    tensor_.ReduceScatter();
  else
    tensor_.AllReduce();
}

void EdgeWriter::EmbeddingBackward() {
  if (c_.job.model.lora.any()) return;  // the table is frozen
  const EmbeddingWork& w = c_.work.embedding;
  if (w.dropout) c_.builder->Compute(w.dropout->backward);
  tensor_.Enter();
  if (w.positions) c_.builder->Compute(w.positions->backward);
  listener_->OnGradient(ParameterKind::kPositionEmbedding, -1);
  if (w.patches) {
    // The images themselves have no gradient.
    c_.builder->Compute(w.patches->weight_gradient);
    if (w.patches->accumulate) c_.builder->Compute(*w.patches->accumulate);
    listener_->OnGradient(ParameterKind::kPatches, -1);
    return;
  }
  c_.builder->Compute(w.lookup.backward);
  listener_->OnGradient(ParameterKind::kWordEmbedding, -1);
}

void EdgeWriter::LookupBackward() {
  tensor_.Enter();
  c_.builder->Compute(c_.work.embedding.lookup.backward);
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

void EdgeWriter::HeadNormForward() { c_.builder->Compute(c_.work.head.norm.forward); }

void EdgeWriter::LogitsForward() {
  const HeadWork& w = c_.work.head;
  tensor_.Enter();
  c_.builder->Compute(w.logits.forward);
  c_.builder->Compute(w.loss.forward);
  if (c_.work.embedding.patches) return;  // every rank has all classes
  const int64_t rows = c_.work.rows;
  switch (c_.job.training.kernels.cross_entropy_fusion) {
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
      // Each rank contributes its maximum, its sum and the logit of the label.
      LossCollective(CollectiveType::kAllGather, ReduceOp::kSum, 3 * rows * c_.layout.tensor);
      break;
  }
}

void EdgeWriter::LogitsBackward() {
  c_.builder->Compute(c_.work.head.loss.backward);
  if (c_.work.embedding.patches) return tensor_.WholeBackward(c_.work.head.logits);
  tensor_.ColumnBackward(c_.work.head.logits);
}

void EdgeWriter::HeadNormBackward() {
  c_.builder->Compute(c_.work.head.norm.backward);
  listener_->OnGradient(ParameterKind::kFinalNormBias, -1);
  listener_->OnGradient(ParameterKind::kFinalNormWeight, -1);
}

}  // namespace drydock
