// Which Python runs a captured program.
#ifndef DRYDOCK_CAPTURE_COMMAND_PYTHON_CHOICE_H_
#define DRYDOCK_CAPTURE_COMMAND_PYTHON_CHOICE_H_

#include <string>

#include "capture/command/parts.h"
#include "capture/launch/launch.h"
#include "core/base/result.h"

namespace drydock::capture {

// The whole path of a program that a shell would start. Errors: there is none.
Result<std::string> PathOfProgram(const std::string& program, const Variables& environment);

// `given`: of --python, or "". Else the Python that the launch would use, if it has PyTorch with
// CUDA, else the one that --setup has made in `cache`, and `tell` says why. Errors: none of them is
// there; the message says what each lacks.
Result<std::string> ChoosePython(const std::string& given, const Launch& launch,
                                 const std::string& cache, const Tell& tell);

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_COMMAND_PYTHON_CHOICE_H_
