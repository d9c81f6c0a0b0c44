// Reads a graph of cuDNN's operations: what its kernel computes.
#ifndef DRYDOCK_CAPTURE_HACKCUDA_DNN_GRAPH_H_
#define DRYDOCK_CAPTURE_HACKCUDA_DNN_GRAPH_H_

#include <string>
#include <vector>

#include "capture/hackcuda/dnn/content.h"
#include "capture/hackcuda/dnn/work.h"
#include "capture/hackcuda/products/product.h"

namespace drydock::hackcuda::dnn {

struct GraphWork {
  std::vector<Attention> attention;
  std::vector<Convolution> convolutions;
  std::vector<Product> products;
  // Of graphs without any of these: what they do, and the bytes of all tensors in memory.
  std::string operation;
  int64_t bytes = 0;
  // True where the precision of the work depends on the engine: fp32 tensors.
  bool may_use_tf32 = false;
  std::string not_understood;  // empty: all is understood
};

GraphWork ReadGraph(const Content& graph);

void LogWork(const GraphWork& work, bool uses_tensor_cores, const void* stream);

}  // namespace drydock::hackcuda::dnn

#endif  // DRYDOCK_CAPTURE_HACKCUDA_DNN_GRAPH_H_
