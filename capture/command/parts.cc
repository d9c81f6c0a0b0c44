#include "capture/command/parts.h"

#include <cstdlib>

#include "core/base/files.h"
#include "core/base/installation.h"
#include "core/nccl/nccl_library.h"

namespace drydock::capture {

Result<Parts> FindParts() {
  Parts parts;
  parts.capture.libraries = CaptureLibraryDirectory() + "/hackcuda";
  parts.capture.sources = SourceDirectory();
  parts.capture.nccl = NcclLibrary::Find();
  parts.stand_ins = CaptureLibraryDirectory() + "/launch";
  parts.wheels = parts.capture.sources + "/third_party/pytorch";
  for (const std::string& file : {parts.capture.libraries + "/libhackcuda.so", parts.capture.nccl,
                                  parts.capture.sources + "/capture/hooks/python/sitecustomize.py",
                                  parts.stand_ins + "/intercept", parts.wheels + "/wheels.txt"}) {
    if (!FileExists(file)) {
      return Error(
          "missing; run scripts/setup.sh, then cmake --build build/release --target "
          "drydock-capture",
          {file, 0, 0});
    }
  }
  return parts;
}

std::string DefaultCache() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache == '/') return std::string(cache) + "/drydock";
  const char* home = std::getenv("HOME");
  return (home != nullptr && *home != 0 ? std::string(home) : "/tmp") + "/.cache/drydock";
}

}  // namespace drydock::capture
