#include "workload-gen/layers/scan_program.h"

namespace drydock {

void ScanWriter::Forward(const ScanWork& work) {
  ProgramBuilder& b = *c_.builder;
  b.Compute(work.norm.forward);
  tensor_.ColumnForward(work.in);
  b.Compute(work.scan.forward);
  tensor_.RowForward(work.out);
  b.Compute(work.residual.forward);
}

void ScanWriter::Backward(const ScanWork& work, int layer) {
  ProgramBuilder& b = *c_.builder;
  tensor_.RowBackward(work.out);
  listener_->OnGradient(ParameterKind::kScanOutWeight, layer);
  b.Compute(work.scan.backward);
  listener_->OnGradient(ParameterKind::kScanNorm, layer);
  listener_->OnGradient(ParameterKind::kScan, layer);
  // Transformer Engine fuses the norm with the product behind it: there is none to repeat.
  if (c_.job.training.recompute.modules.norms && !c_.job.training.kernels.fused) {
    b.SetPhase(Phase::kRecompute);
    b.Compute(work.norm.forward);
    b.SetPhase(Phase::kBackward);
  }
  tensor_.ColumnBackward(work.in);
  listener_->OnGradient(ParameterKind::kScanInWeight, layer);
  b.Compute(work.norm.backward);
}

}  // namespace drydock
