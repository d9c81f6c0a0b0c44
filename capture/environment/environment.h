// What a captured program runs in: the user's Python, and beside it the stand-ins and observers
// that were made for the PyTorch in it. They are made once for each PyTorch, and kept.
#ifndef DRYDOCK_CAPTURE_ENVIRONMENT_ENVIRONMENT_H_
#define DRYDOCK_CAPTURE_ENVIRONMENT_ENVIRONMENT_H_

#include <string>
#include <utility>
#include <vector>

#include "capture/environment/folder_lock.h"
#include "core/base/result.h"

namespace drydock::capture {

// Where this build of Drydock keeps what a capture needs.
struct CaptureParts {
  std::string libraries;  // folder of libhackcuda.so and its archives
  std::string sources;    // root of the tree: capture/hooks, and the headers that it includes
  std::string nccl;       // libhacknccl.so
};

struct CaptureEnvironment {
  std::string python_version;          // "3.11.2"
  std::string torch_version;           // "2.9.1+cu128"
  std::vector<std::string> preloaded;  // libraries, in this order
  std::string folder;                  // of them
  std::string observer;                // the library that observes PyTorch's operators
  std::string hooks;                   // folder of Python's hooks
};

// Whether programs of this Python can be captured. Errors: it has no PyTorch, or one without CUDA.
Status CheckPython(const std::string& python);

// Finds the PyTorch of `python` and makes what is missing below `cache`, which takes a minute:
// `tell` says so. Errors: this Python has no PyTorch, or one without CUDA; a compiler is missing or
// fails.
Result<CaptureEnvironment> PrepareEnvironment(const std::string& python, const CaptureParts& parts,
                                              const std::string& cache, const Tell& tell = {});

// The variables of a process that is `rank` of `world`, the `local`-th of `local_world` ranks on
// `host` of `hosts`. Its log and the file "process" are in `folder`. Lists of paths (LD_PRELOAD,
// LD_LIBRARY_PATH, PYTHONPATH) come before those of the user.
struct CapturedRank {
  int rank = 0, world = 1;
  int local = 0, local_world = 1;
  int host = 0, hosts = 1;
  std::string folder;
};
std::vector<std::pair<std::string, std::string>> VariablesOf(const CaptureEnvironment& environment,
                                                             const CapturedRank& rank);

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_ENVIRONMENT_ENVIRONMENT_H_
