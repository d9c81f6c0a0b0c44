// The frameworks that training.framework may name. Each has a row in
// workload-gen/framework_table.cc, which makes it.
#ifndef DRYDOCK_WORKLOAD_GEN_JOB_FRAMEWORK_NAMES_H_
#define DRYDOCK_WORKLOAD_GEN_JOB_FRAMEWORK_NAMES_H_

#include <string>
#include <vector>

namespace drydock {

const std::vector<std::string>& FrameworkNames();

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_JOB_FRAMEWORK_NAMES_H_
