#include "workload-gen/job/model_shape.h"

namespace drydock {

int ModelShape::expert_layers() const {
  int count = 0;
  for (int layer = 0; layer < layers; ++layer) count += HasExperts(layer) ? 1 : 0;
  return count;
}

}  // namespace drydock
