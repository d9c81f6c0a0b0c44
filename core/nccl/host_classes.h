// Converts kinds of hosts to the C interface (hacknccl.h).
#ifndef DRYDOCK_CORE_NCCL_HOST_CLASSES_H_
#define DRYDOCK_CORE_NCCL_HOST_CLASSES_H_

#include <vector>

#include "core/nccl/hacknccl.h"
#include "core/nccl/topology_xml.h"

namespace drydock {

// Points into `hosts`, which must outlive this object.
class HostClasses {
 public:
  explicit HostClasses(const std::vector<NcclHost>& hosts);
  const std::vector<hacknccl_host_class>& get() const { return classes_; }

 private:
  std::vector<std::vector<hacknccl_gpu>> gpus_;
  std::vector<std::vector<hacknccl_nic>> nics_;
  std::vector<hacknccl_host_class> classes_;
};

}  // namespace drydock

#endif  // DRYDOCK_CORE_NCCL_HOST_CLASSES_H_
