#include "study/jobs/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/base/spelling.h"

namespace drydock {
namespace {

constexpr const char* kJob = "{job}";
constexpr int kMostProcesses = 1024;

// Options of sbatch that choose where and how long a job runs.
const std::vector<std::string>& SlurmOptions() {
  static const std::vector<std::string> names = {
      "account",     "clusters",    "comment",  "constraint",      "cpus-per-task",
      "exclude",     "exclusive",   "gres",     "licenses",        "mem",
      "mem-per-cpu", "nice",        "nodelist", "partition",       "priority",
      "qos",         "reservation", "time",     "threads-per-core"};
  return names;
}

Result<int> ProcessesOf(const std::string& text) {
  int number = 0;
  const char* end = text.data() + text.size();
  const auto [at, failed] = std::from_chars(text.data(), end, number);
  if (failed != std::errc() || at != end || number < 1 || number > kMostProcesses) {
    return Error(fmt::format("--on local:{}: expected a number of processes from 1 to {}", text,
                             kMostProcesses));
  }
  return number;
}

Status ReadSlurmOptions(const std::string& text, Engine* engine) {
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string item = text.substr(begin, end - begin);
    begin = end + 1;
    const std::string name = item.substr(0, item.find('='));
    const std::vector<std::string>& known = SlurmOptions();
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      return Error(fmt::format("--on slurm: no option '{}'{}; options are {}", name,
                               DidYouMean(name, known), Join(known)));
    }
    engine->options.push_back("--" + item);
  }
  return OkStatus();
}

}  // namespace

Result<Engine> ParseEngine(const std::string& text) {
  const size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
  const std::string rest = colon == std::string::npos ? "" : text.substr(colon + 1);
  Engine engine;
  if (name == "local") {
    if (colon != std::string::npos) {
      ASSIGN_OR_RETURN(engine.processes, ProcessesOf(rest));
    }
    return engine;
  }
  if (name == "slurm") {
    engine.kind = Engine::Kind::kSlurm;
    RETURN_IF_ERROR(ReadSlurmOptions(rest, &engine));
    return engine;
  }
  if (name == "srun") {
    engine.kind = Engine::Kind::kSrun;
    if (colon == std::string::npos) return engine;
    return Error("--on srun has no options; the allocation has them");
  }
  if (name == "command") {
    engine.kind = Engine::Kind::kCommand;
    engine.command = rest;
    if (rest.find(kJob) != std::string::npos) return engine;
    return Error("--on command: the command line has no {job}, such as command:'ssh host2 {job}'");
  }
  return Error(
      fmt::format("--on {}: no engine is called '{}'{}; engines are local[:N], "
                  "slurm[:OPTION=VALUE,...], srun and command:'... {{job}} ...'",
                  text, name, DidYouMean(name, {"local", "slurm", "srun", "command"})));
}

}  // namespace drydock
