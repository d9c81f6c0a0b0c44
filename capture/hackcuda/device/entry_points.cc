#include "capture/hackcuda/device/entry_points.h"

#include <dlfcn.h>

#include <string>

namespace drydock::hackcuda {

void* DriverFunction(const char* name) {
  static void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (driver == nullptr) return nullptr;
  for (const char* suffix : {"_v3", "_v2", ""}) {
    if (void* function = dlsym(driver, (std::string(name) + suffix).c_str())) return function;
  }
  return nullptr;
}

}  // namespace drydock::hackcuda
