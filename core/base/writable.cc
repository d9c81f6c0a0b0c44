#include "core/base/writable.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace drydock {

Status CheckCanWrite(const std::string& path) {
  namespace fs = std::filesystem;
  const auto error = [&path](int code) {
    return Error(fmt::format("cannot write: {}", std::strerror(code)), {path, 0, 0});
  };
  std::error_code failed;
  if (path.ends_with('/') || fs::is_directory(path, failed)) return error(EISDIR);
  fs::path folder = fs::absolute(path, failed).lexically_normal().parent_path();
  if (failed) return error(failed.value());
  // The run creates missing folders in the nearest folder that exists.
  while (!fs::exists(folder, failed) && folder.has_relative_path()) {
    // "Not a folder" and "no permission" are errors; "does not exist" is not.
    if (failed && failed != std::errc::no_such_file_or_directory) return error(failed.value());
    folder = folder.parent_path();
  }
  if (!fs::is_directory(folder, failed)) return error(ENOTDIR);
  if (::access(folder.c_str(), W_OK | X_OK) != 0) return error(errno);
  return OkStatus();
}

}  // namespace drydock
