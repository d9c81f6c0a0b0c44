// The profile that gpu-profiler writes row by row, and continues when it starts again. Needs no
// GPU.
#ifndef DRYDOCK_COMPUTE_SIM_MEASURE_MEASURE_FILE_H_
#define DRYDOCK_COMPUTE_SIM_MEASURE_MEASURE_FILE_H_

#include <string>

#include "compute-sim/kernel/kernel.h"
#include "compute-sim/profile/profile.h"
#include "core/base/result.h"

namespace drydock {

// `clocks`: the highest clocks that the GPU states. Remarks between the rows hold the actual ones.
struct MeasuredOn {
  std::string gpu, device, driver, libraries, clocks, date;
};

// The header and the line of column names. One line for each row follows.
std::string MeasuredHeader(const MeasuredOn& on);
std::string MeasuredRow(const Kernel& kernel, double us);
// A line that readers skip: "# SM clock 1755 MHz, 640 W".
std::string MeasuredRemark(const std::string& what);

// A file that an earlier run began.
struct BegunFile {
  std::string text;  // without an incomplete last line
  Profile profile;
};
// An error if the file is not a profile, if gpu-profiler did not write it, or if it is a profile of
// a GPU other than `gpu` ("": any GPU).
Result<BegunFile> ReadBegunFile(const std::string& path, const std::string& gpu);
// Returns an error if rows measured on `on` must not continue the file: `on` differs in device,
// driver, library or method. The error names the first difference.
Status CheckContinues(const BegunFile& file, const MeasuredOn& on);

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_MEASURE_MEASURE_FILE_H_
