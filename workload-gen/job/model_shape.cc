#include "workload-gen/job/model_shape.h"

#include <algorithm>

namespace drydock {

int ModelShape::expert_layers() const {
  int count = 0;
  for (int layer = 0; layer < layers; ++layer) count += HasExperts(layer) ? 1 : 0;
  return count;
}

int64_t ModelShape::samples() const {
  if (sample_length <= 0) return 1;
  return std::max(int64_t{1}, (sequence + sample_length / 2) / sample_length);
}

}  // namespace drydock
