// Options of nccl-tests that a simulation has no use for. They are accepted, so that a script of
// nccl-tests runs as it is, and the output names each with the reason.
#ifndef DRYDOCK_EXEC_ENGINE_COLLECTIVE_PERF_IDLE_OPTIONS_H_
#define DRYDOCK_EXEC_ENGINE_COLLECTIVE_PERF_IDLE_OPTIONS_H_

#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace drydock {

class IdleOptions {
 public:
  // Each takes a whole number, as in nccl-tests.
  void Declare(CLI::App* app);
  // Adds an option of another owner, as typed: "-i 1M".
  void Add(std::string typed, const std::string& why);
  // Of those on the command line: "-T 60: a simulation does not hang".
  std::vector<std::string> Given() const;

 private:
  std::vector<CLI::Option*> options_;  // in the order of the table in the .cc
  std::vector<std::string> added_;
};

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_COLLECTIVE_PERF_IDLE_OPTIONS_H_
