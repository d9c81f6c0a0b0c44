// Fused attention as a graph for cuDNN, forwards and backwards: the scores are made, masked,
// normalised and used without ever being in memory.
#ifndef DRYDOCK_COMPUTE_SIM_MEASURE_ATTENTION_GRAPH_H_
#define DRYDOCK_COMPUTE_SIM_MEASURE_ATTENTION_GRAPH_H_

#include "compute-sim/kernel/kernel.h"
#include "compute-sim/measure/cudnn_graph.h"

namespace drydock {

// Of an attention kernel in 16 bits. Queries, keys, values and results lie as [batch, sequence,
// heads, width], as frameworks keep them; the backward pass reads what a forward pass leaves of
// each row, and leaves the gradients of queries, keys and values.
void BuildAttention(const Kernel& kernel, CudnnGraph* graph);

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_MEASURE_ATTENTION_GRAPH_H_
