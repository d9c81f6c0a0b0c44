// Parameters of kernel models as the `kernels:` section of a GPU's file.
#ifndef DRYDOCK_COMPUTE_SIM_KERNEL_KERNEL_PARAMETERS_TEXT_H_
#define DRYDOCK_COMPUTE_SIM_KERNEL_KERNEL_PARAMETERS_TEXT_H_

#include <string>

#include "compute-sim/kernel/kernel_parameters.h"

namespace drydock {

// Reads back to the same parameters, to four significant digits. `remark`: lines of comments
// (without "#") at its top.
std::string KernelsText(const KernelParameters& parameters, const std::string& remark);

// A GPU file's text with its `kernels:` section replaced by `section`, or with it put after the
// specification if there was none. What lies in other sections stays as it is.
std::string WithKernels(const std::string& file_text, const std::string& section);

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_KERNEL_KERNEL_PARAMETERS_TEXT_H_
