// The submodules of a layer that scans the sequence on one rank: Mamba-2 or a gated delta net.
// submodule_maker.h defines rows.
#ifndef DRYDOCK_WORKLOAD_GEN_WORK_SCAN_WORK_H_
#define DRYDOCK_WORKLOAD_GEN_WORK_SCAN_WORK_H_

#include "workload-gen/work/submodule_maker.h"

namespace drydock {

// Tensor parallelism splits the heads, and the groups of heads.
struct ScanWork {
  ForwardBackwardWork norm;
  LinearWork in;             // everything that the scan reads, in one GEMM
  ForwardBackwardWork scan;  // with its convolution before it and its gated norm after it
  LinearWork out;
  ForwardBackwardWork residual;
};

ScanWork MakeMamba(SubmoduleMaker* maker);
ScanWork MakeDeltaNet(SubmoduleMaker* maker);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_WORK_SCAN_WORK_H_
