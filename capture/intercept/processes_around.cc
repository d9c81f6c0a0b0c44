#include "capture/intercept/processes_around.h"

#include <fmt/format.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace drydock::capture {
namespace {

namespace fs = std::filesystem;

std::string LinkOf(const std::string& path) {
  char target[PATH_MAX];
  const ssize_t length = ::readlink(path.c_str(), target, sizeof target);
  return length <= 0 ? "" : std::string(target, static_cast<size_t>(length));
}

// Through /proc alone, whose numbers may be those of another namespace than getppid's.
std::string ParentOf(const std::string& process) {
  std::ifstream stat("/proc/" + process + "/stat");
  std::string text;
  std::getline(stat, text);
  const size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return "";
  char state = 0;
  int parent = 0;
  if (sscanf(text.c_str() + name_end + 1, " %c %d", &state, &parent) != 2 || parent <= 0) return "";
  return std::to_string(parent);
}

bool OpenForReading(const std::string& process, const std::string& file) {
  std::ifstream facts("/proc/" + process + "/fdinfo/" + file);
  std::string line;
  while (std::getline(facts, line)) {
    unsigned flags = 0;
    if (sscanf(line.c_str(), "flags: %o", &flags) == 1) return (flags & 3U) == 0;
  }
  return false;
}

bool Reads(const std::string& process, const std::string& pipe) {
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator("/proc/" + process + "/fd", failed)) {
    if (LinkOf(entry.path().string()) != pipe) continue;
    if (OpenForReading(process, entry.path().filename().string())) return true;
  }
  return false;
}

}  // namespace

bool ShellReadsOutput(int owner) {
  // In x=$(a | b), a writes into b's pipe, and the shell around both into that of x. So the output
  // of each process up to the owner counts.
  std::vector<std::string> chain = {LinkOf("/proc/self")};
  while (!chain.back().empty() && chain.size() < 100) {
    const std::string parent = ParentOf(chain.back());
    if (parent.empty() || parent == std::to_string(owner)) break;
    chain.push_back(parent);
  }
  for (size_t i = 0; i < chain.size(); ++i) {
    const std::string output = LinkOf("/proc/" + chain[i] + "/fd/1");
    if (!output.starts_with("pipe:")) continue;
    for (size_t around = i + 1; around < chain.size(); ++around) {
      if (Reads(chain[around], output)) return true;
    }
  }
  return false;
}

}  // namespace drydock::capture
