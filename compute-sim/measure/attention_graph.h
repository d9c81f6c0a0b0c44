// Fused attention as a graph for cuDNN, forward and backward: the scores are computed, masked,
// normalized and used without passing through memory.
#ifndef DRYDOCK_COMPUTE_SIM_MEASURE_ATTENTION_GRAPH_H_
#define DRYDOCK_COMPUTE_SIM_MEASURE_ATTENTION_GRAPH_H_

#include "compute-sim/kernel/kernel.h"
#include "compute-sim/measure/cudnn_graph.h"

namespace drydock {

// The graph of an attention kernel in 16 bits. Queries, keys, values and results have the layout
// [batch, sequence, heads, width], as in frameworks. The backward pass reads the statistics that a
// forward pass writes for each row, and writes the gradients of queries, keys and values.
void BuildAttention(const Kernel& kernel, CudnnGraph* graph);

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_MEASURE_ATTENTION_GRAPH_H_
