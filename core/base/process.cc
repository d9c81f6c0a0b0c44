#include "core/base/process.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace drydock {

Status RunBeside(const std::string& name, const std::vector<std::string>& arguments) {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::string path = (self.parent_path() / name).string();
  std::vector<char*> argv = {const_cast<char*>(path.c_str())};
  for (const std::string& argument : arguments) {
    argv.push_back(const_cast<char*>(argument.c_str()));
  }
  argv.push_back(nullptr);
  pid_t child = 0;
  const int code = ::posix_spawn(&child, path.c_str(), nullptr, nullptr, argv.data(), environ);
  if (code != 0) return Error(fmt::format("cannot run {}: {}", name, std::strerror(code)), {path});
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) {
    return Error(fmt::format("{} was ended by signal {}", name, WTERMSIG(status)), {path});
  }
  if (WEXITSTATUS(status) != 0) {
    return Error(fmt::format("{} ended with exit status {}", name, WEXITSTATUS(status)), {path});
  }
  return OkStatus();
}

}  // namespace drydock
