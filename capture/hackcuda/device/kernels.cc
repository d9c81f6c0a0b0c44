#include "capture/hackcuda/device/kernels.h"

#include <mutex>
#include <string>
#include <unordered_map>

#include "capture/hackcuda/device/log.h"
#include "capture/hackcuda/device/streams.h"

namespace drydock::hackcuda {
namespace {

struct Kernel {
  std::string name;
  int64_t number = -1;  // in the log, once launched
};
struct Kernels {
  std::mutex mutex;
  std::unordered_map<const void*, Kernel> by_function;
};
Kernels& All() {
  static Kernels& kernels = *new Kernels;
  return kernels;
}

int64_t NumberOf(const void* function) {
  const std::lock_guard<std::mutex> lock(All().mutex);
  Kernel& kernel = All().by_function[function];
  if (kernel.number < 0) kernel.number = NameNumber(kernel.name.empty() ? "?" : kernel.name);
  return kernel.number;
}

}  // namespace

void NameKernel(const void* function, const char* name) {
  const std::lock_guard<std::mutex> lock(All().mutex);
  All().by_function[function] = {name, -1};
}

void LaunchKernel(const void* function, const LaunchShape& s, const void* stream) {
  Log(EntryKind::kLaunch, {NumberOf(function), s.grid[0], s.grid[1], s.grid[2], s.block[0],
                           s.block[1], s.block[2], static_cast<int64_t>(s.shared_bytes),
                           s.cluster[0], s.cluster[1], s.cluster[2], StreamNumber(stream)});
}

}  // namespace drydock::hackcuda
