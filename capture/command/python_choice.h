// Which Python runs a captured program.
#ifndef DRYDOCK_CAPTURE_COMMAND_PYTHON_CHOICE_H_
#define DRYDOCK_CAPTURE_COMMAND_PYTHON_CHOICE_H_

#include <string>

#include "capture/command/parts.h"
#include "capture/launch/launch.h"
#include "core/base/result.h"

namespace drydock::capture {

// The file of a program, as a shell finds it: a path, or a name in PATH. Errors: there is none.
Result<std::string> FindProgram(const std::string& program, const Variables& environment);

// `given`: of --python, or "". Else the Python that the launch would use, if it has PyTorch with
// CUDA, else the one that --setup has made in `cache`. Errors: none of them is there; the message
// says what each lacks.
Result<std::string> ChoosePython(const std::string& given, const Launch& launch, const Parts& parts,
                                 const std::string& cache);

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_COMMAND_PYTHON_CHOICE_H_
