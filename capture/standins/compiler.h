// Runs the C compiler of this machine.
#ifndef DRYDOCK_CAPTURE_STANDINS_COMPILER_H_
#define DRYDOCK_CAPTURE_STANDINS_COMPILER_H_

#include <string>
#include <vector>

#include "core/base/result.h"

namespace drydock::capture {

// `cc` with these arguments. The error has the first lines that the compiler printed.
Status Compile(const std::vector<std::string>& arguments);

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_STANDINS_COMPILER_H_
