// Fp8 with delayed scaling: the largest values of a chunk's pass become the next scales. They are
// reduced over all ranks of the stage, or over a tensor-parallel group.
#ifndef DRYDOCK_WORKLOAD_GEN_PROGRAM_FP8_SCALES_H_
#define DRYDOCK_WORKLOAD_GEN_PROGRAM_FP8_SCALES_H_

#include "workload-gen/program/writer_context.h"

namespace drydock {

// The number of tensors of each GEMM whose scales a pass sets: input, weight and output; or the
// gradients of output and input.
inline constexpr int kForwardScales = 3;
inline constexpr int kBackwardScales = 2;

// Follows a pass through the chunk. Writes nothing unless the job trains in fp8.
void ReduceScales(const WriterContext& context, int chunk, int tensors);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_PROGRAM_FP8_SCALES_H_
