// Writes the part of a layer that scans the sequence (MambaMixer and GatedDeltaNet of
// Megatron-Core): a column-parallel GEMM, the scan of the rank's heads, a row-parallel GEMM.
#ifndef DRYDOCK_WORKLOAD_GEN_LAYERS_SCAN_PROGRAM_H_
#define DRYDOCK_WORKLOAD_GEN_LAYERS_SCAN_PROGRAM_H_

#include "workload-gen/program/tensor_parallel.h"
#include "workload-gen/program/writer_context.h"

namespace drydock {

class ScanWriter {
 public:
  ScanWriter(const WriterContext& context, GradientListener* listener)
      : c_(context), tensor_(context), listener_(listener) {}

  void Forward(const ScanWork& work);
  // From the gradient of the output projection to that of the norm.
  void Backward(const ScanWork& work, int layer);

 private:
  const WriterContext& c_;
  TensorParallel tensor_;
  GradientListener* listener_;
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_LAYERS_SCAN_PROGRAM_H_
