#include "tests/oracle/processes.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <map>
#include <set>

#include "core/base/check.h"

namespace drydock {
namespace {

struct Child {
  pid_t pid = -1;
  std::FILE* output = nullptr;  // an entry per line: the result, or the error if the process failed
};

[[noreturn]] void BeChild(int index, std::FILE* output,
                          const std::function<Status(int, Lines*)>& body) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  Lines lines;
  const Status status = body(index, &lines);
  if (!status.ok()) lines = {status.error().message()};
  for (const std::string& line : lines) std::fprintf(output, "%s\n", line.c_str());
  std::fflush(output);
  // NCCL's state is not freed: the process ends.
  _exit(status.ok() ? 0 : 1);
}

Lines ReadAll(std::FILE* file) {
  Lines lines;
  std::string line;
  std::rewind(file);
  for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) {
    if (c != '\n') {
      line += static_cast<char>(c);
    } else {
      lines.push_back(std::exchange(line, {}));
    }
  }
  return lines;
}

std::string Reason(const Child& child, int status) {
  if (WIFSIGNALED(status)) return "ended by signal " + std::to_string(WTERMSIG(status));
  std::string reason;
  for (const std::string& line : ReadAll(child.output))
    reason += (reason.empty() ? "" : " ") + line;
  return reason;
}

// Each reason once, with the first process that gave it.
std::string Summary(const std::map<int, std::string>& failures) {
  std::set<std::string> seen;
  std::string summary;
  for (const auto& [index, reason] : failures) {
    if (!seen.insert(reason).second) continue;
    summary +=
        (summary.empty() ? "process " : "; process ") + std::to_string(index) + ": " + reason;
  }
  return summary;
}

}  // namespace

Result<std::vector<Lines>> RunInProcesses(int count,
                                          const std::function<Status(int, Lines*)>& body) {
  std::fflush(nullptr);  // otherwise every child would write this process's buffered output too
  std::vector<Child> children(static_cast<size_t>(count));
  std::map<pid_t, int> running;
  for (int i = 0; i < count; ++i) {
    Child& child = children[static_cast<size_t>(i)];
    child.output = std::tmpfile();
    CHECK(child.output != nullptr);
    child.pid = fork();
    CHECK(child.pid >= 0);
    if (child.pid == 0) BeChild(i, child.output, body);
    running[child.pid] = i;
  }
  std::map<int, std::string> failures;
  while (!running.empty()) {
    int status = 0;
    const pid_t pid = wait(&status);
    const auto ended = running.find(pid);
    if (ended == running.end()) continue;
    const int index = ended->second;
    running.erase(ended);
    if (status == 0) continue;
    failures[index] = Reason(children[static_cast<size_t>(index)], status);
    // A process that crashed reported no error, and the other processes would wait for it.
    if (!WIFSIGNALED(status)) continue;
    for (const auto& [other, unused] : running) kill(other, SIGKILL);
  }
  std::vector<Lines> out;
  for (const Child& child : children) {
    out.push_back(ReadAll(child.output));
    std::fclose(child.output);
  }
  if (!failures.empty()) return Error(Summary(failures));
  return out;
}

SharedMemory::SharedMemory(size_t bytes)
    : memory_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)),
      bytes_(bytes) {
  CHECK(memory_ != MAP_FAILED);
}

SharedMemory::~SharedMemory() { munmap(memory_, bytes_); }

}  // namespace drydock
