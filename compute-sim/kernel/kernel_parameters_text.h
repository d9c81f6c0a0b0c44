// Writes parameters of kernel models as the `kernels:` section of a GPU's file.
#ifndef DRYDOCK_COMPUTE_SIM_KERNEL_KERNEL_PARAMETERS_TEXT_H_
#define DRYDOCK_COMPUTE_SIM_KERNEL_KERNEL_PARAMETERS_TEXT_H_

#include <string>

#include "compute-sim/kernel/kernel_parameters.h"

namespace drydock {

// The section with four significant digits, which ReadKernelParameters reads. `remark`: lines of
// comments (without "#") at its top.
std::string KernelsText(const KernelParameters& parameters, const std::string& remark);

// The text of a GPU's file with its `kernels:` section replaced by `section`, or with `section`
// after the specification if there was none. Other sections do not change.
std::string WithKernels(const std::string& file_text, const std::string& section);

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_KERNEL_KERNEL_PARAMETERS_TEXT_H_
