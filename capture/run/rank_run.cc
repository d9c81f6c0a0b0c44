#include "capture/run/rank_run.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <thread>

#include "capture/run/failure.h"
#include "capture/run/keeper.h"
#include "capture/run/process_facts.h"
#include "core/base/files.h"

namespace drydock::capture {
namespace {

namespace fs = std::filesystem;

constexpr int kPoll_ms = 200;
constexpr int kShownLines = 12;
// A rank takes at least this much of the host's memory: Python and PyTorch.
constexpr int64_t kLeastBytes = int64_t{512} << 20;
// Ranks are ended before the machine has less than this.
constexpr int64_t kReserveBytes = int64_t{384} << 20;

// Memory that processes can still get. 0: unknown.
int64_t AvailableBytes() {
  std::ifstream file("/proc/meminfo");
  std::string name, unit;
  int64_t kilobytes = 0;
  while (file >> name >> kilobytes) {
    std::getline(file, unit);
    if (name == "MemAvailable:") return kilobytes * 1024;
  }
  return 0;
}

std::string Gigabytes(int64_t bytes) {
  return fmt::format("{:.1f} GB", static_cast<double>(bytes) / 1e9);
}

// The end of a file that a program wrote.
std::string EndOfFile(const std::string& path) {
  constexpr std::streamoff kMost = 1 << 18;
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const std::streamoff size = file.tellg();
  if (size <= 0) return "";
  const std::streamoff kept = std::min(size, kMost);
  std::string text(static_cast<size_t>(kept), '\0');
  file.seekg(size - kept);
  file.read(text.data(), kept);
  return text;
}

// The program may start others that use a GPU for a moment: the longest log is the one of the rank.
Result<std::optional<ProcessLog>> LongestLog(const std::string& folder) {
  std::string longest;
  uintmax_t most = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".log") continue;
    std::ifstream file(entry.path(), std::ios::binary);
    LogHeader header;
    file.read(reinterpret_cast<char*>(&header), sizeof header);
    if (!file || header.bytes < most) continue;
    // Of equal logs, the one whose name comes first.
    if (header.bytes == most && !longest.empty() && entry.path().string() > longest) continue;
    most = header.bytes;
    longest = entry.path().string();
  }
  if (longest.empty()) return std::optional<ProcessLog>();
  ASSIGN_OR_RETURN(ProcessLog log, ProcessLog::Read(longest));
  return std::optional<ProcessLog>(std::move(log));
}

std::vector<std::string> RefusedIn(const ProcessLog& log) {
  std::vector<std::string> refused;
  for (const LogEntry& entry : log.entries()) {
    if (entry.kind != EntryKind::kRefuse) continue;
    const std::string text =
        fmt::format("{} of {}", log.name(entry.words[1]), log.name(entry.words[0]));
    if (std::find(refused.begin(), refused.end(), text) == refused.end()) refused.push_back(text);
  }
  return refused;
}

// Names of lists of folders or libraries, which the user may have, too.
bool IsList(const std::string& name) {
  return name == "LD_PRELOAD" || name == "LD_LIBRARY_PATH" || name == "PYTHONPATH";
}

Result<StagedDirectory> MakeScratch() {
  std::error_code failed;
  const fs::path scratch = fs::temp_directory_path(failed);
  if (failed) return Error("TMPDIR names no folder: " + failed.message());
  return StagedDirectory::Create((scratch / "drydock-capture").string());
}

// A rank that runs.
struct Running {
  int rank = 0;
  StagedDirectory folder;
  Keeper keeper;
};

std::string DescribeEnd(const KeptEnd& end, int time_limit_s) {
  if (end.timed_out != 0) {
    return fmt::format("had not ended after the time limit of {} s", time_limit_s);
  }
  if (WIFSIGNALED(end.status)) {
    std::string text = fmt::format("was killed by signal {} ({})", WTERMSIG(end.status),
                                   strsignal(WTERMSIG(end.status)));
    if (WTERMSIG(end.status) == SIGKILL) {
      text += fmt::format("; it held up to {} of the host's memory", Gigabytes(end.peak_bytes));
    }
    return text;
  }
  return fmt::format("ended with exit status {}", WEXITSTATUS(end.status));
}

Error DescribeFailure(int rank, const KeptEnd& end, int time_limit_s, const std::string& errors,
                      const std::vector<std::string>& refused) {
  const std::string subject = fmt::format("rank {}", rank);
  const Error error = FailureError(subject, DescribeEnd(end, time_limit_s), errors);
  if (refused.empty()) return error;
  std::vector<Diagnostic> all = error.diagnostics();
  all.emplace_back().message =
      fmt::format("{} called {}, which a capture does not have", subject, fmt::join(refused, ", "));
  return Error(std::move(all));
}

}  // namespace

int RankRunner::JobsNow() const {
  if (jobs_ > 0) return jobs_;
  if (peak_bytes_ == 0) return 1;
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  const int64_t available = AvailableBytes();
  if (available == 0) return 1;
  // Those that run hold some of it already; a share of a quarter is left to others.
  const auto fit = (available - available / 4) / std::max(peak_bytes_, kLeastBytes);
  return static_cast<int>(std::clamp<int64_t>(fit, 1, cores));
}

namespace {

// The processes of one call of RankRunner::Run.
class Processes {
 public:
  Processes(const CaptureEnvironment& environment, const Topology& topology,
            const RankProgram& program, std::vector<RankPlace> places, std::string values)
      : environment_(environment),
        topology_(topology),
        program_(program),
        places_(std::move(places)),
        values_(std::move(values)) {}

  Status Start(int rank) {
    ASSIGN_OR_RETURN(StagedDirectory folder, MakeScratch());
    const RankPlace& place = places_[static_cast<size_t>(rank)];
    const CapturedProcess facts = FactsOf(topology_, place, rank);
    RETURN_IF_ERROR(folder.Write(
        "process", std::string_view(reinterpret_cast<const char*>(&facts), sizeof facts)));
    KeptProgram kept;
    kept.command = program_.command;
    kept.folder = program_.folder;
    kept.environment = VariablesFor(rank, folder.path());
    if (!program_.shows_output) {
      kept.output = folder.path() + "/stdout";
      kept.errors = folder.path() + "/stderr";
    }
    kept.scratch = {folder.path(), values_};
    kept.time_limit_s = program_.time_limit_s;
    ASSIGN_OR_RETURN(Keeper keeper, Keeper::Start(kept));
    running_.push_back(
        std::make_unique<Running>(Running{rank, std::move(folder), std::move(keeper)}));
    return OkStatus();
  }

  // Waits until a rank ends, for a moment. Returns its end, if one has ended.
  std::optional<RankEnd> Wait() {
    std::vector<pollfd> files;
    for (const auto& running : running_) files.push_back({running->keeper.file(), POLLIN, 0});
    ::poll(files.data(), files.size(), kPoll_ms);
    for (size_t i = 0; i < running_.size(); ++i) {
      std::optional<KeptEnd> end = running_[i]->keeper.Wait(0);
      if (!end.has_value()) continue;
      const std::unique_ptr<Running> ended = std::move(running_[i]);
      running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
      return Read(*ended, *end);
    }
    return std::nullopt;
  }

  // Ends the rank that was started last, and returns it.
  int Drop() {
    const int rank = running_.back()->rank;
    running_.pop_back();
    return rank;
  }

  size_t count() const { return running_.size(); }
  std::vector<int> ranks() const {
    std::vector<int> ranks;
    for (const auto& running : running_) ranks.push_back(running->rank);
    std::sort(ranks.begin(), ranks.end());
    return ranks;
  }

 private:
  std::vector<std::string> VariablesFor(int rank, const std::string& folder) const {
    const RankPlace& place = places_[static_cast<size_t>(rank)];
    const Variables given = program_.environment.empty() ? OwnEnvironment() : program_.environment;
    std::map<std::string, std::string> variables(given.begin(), given.end());
    const CapturedRank captured = {
        rank,       program_.world,          place.local, place.ranks_beside,
        place.host, places_.back().host + 1, folder};
    variables[kValuesVariable] = values_;
    if (program_.iterations > 0) {
      variables[kIterationsVariable] = std::to_string(program_.iterations);
    }
    if (program_.marks_lines) variables[kLinesVariable] = "1";
    for (const auto& [name, value] : VariablesOf(environment_, captured)) {
      std::string& to = variables[name];
      to = IsList(name) && !to.empty() ? value + ":" + to : value;
    }
    if (program_.only_times) variables[kObserverVariable].clear();
    if (program_.rank_variables) {
      for (const auto& [name, value] : program_.rank_variables(rank)) variables[name] = value;
    }
    std::vector<std::string> texts;
    for (const auto& [name, value] : variables) texts.push_back(name + "=" + value);
    return texts;
  }

  RankEnd Read(const Running& ended, const KeptEnd& end) const {
    const std::string& folder = ended.folder.path();
    const std::string errors = EndOfFile(folder + "/stderr");
    RankEnd result;
    result.rank = ended.rank;
    result.output = LastLines(EndOfFile(folder + "/stdout"), kShownLines);
    result.errors = LastLines(errors, kShownLines);
    result.peak_bytes = end.peak_bytes;
    Result<std::optional<ProcessLog>> log = LongestLog(folder);
    if (log.ok()) {
      result.log = std::move(log).value();
    } else {
      result.failure = log.error();
    }
    if (result.log.has_value()) result.refused = RefusedIn(*result.log);
    if (end.status != 0 || end.timed_out != 0) {
      result.failure =
          DescribeFailure(ended.rank, end, program_.time_limit_s, errors, result.refused);
    } else if (!result.log.has_value() && !result.failure.has_value()) {
      result.failure = FailureError(fmt::format("rank {}", ended.rank), "never used a GPU", errors);
    }
    return result;
  }

  const CaptureEnvironment& environment_;
  const Topology& topology_;
  const RankProgram& program_;
  std::vector<RankPlace> places_;
  std::string values_;
  std::vector<std::unique_ptr<Running>> running_;
};

}  // namespace

Status RankRunner::Run(const std::vector<int>& ranks, const UseRank& use, const ShowRanks& show) {
  ASSIGN_OR_RETURN(std::vector<RankPlace> places,
                   PlaceRanks(topology_, program_.world, program_.ranks_per_host));
  if (!kept_.has_value()) {
    ASSIGN_OR_RETURN(StagedDirectory folder, MakeScratch());
    kept_.emplace(std::move(folder));
  }
  Processes processes(environment_, topology_, program_, std::move(places), kept_->path());
  std::vector<int> waiting(ranks.rbegin(), ranks.rend());
  int most = INT32_MAX;  // at a time, since the memory ran out with more
  while (!waiting.empty() || processes.count() > 0) {
    while (!waiting.empty() && static_cast<int>(processes.count()) < std::min(most, JobsNow())) {
      RETURN_IF_ERROR(processes.Start(waiting.back()));
      waiting.pop_back();
      if (show) show(processes.ranks());
    }
    std::optional<RankEnd> end = processes.Wait();
    if (end.has_value()) {
      peak_bytes_ = std::max(peak_bytes_, end->peak_bytes);
      RETURN_IF_ERROR(use(std::move(*end)));
      if (show) show(processes.ranks());
      continue;
    }
    const int64_t available = AvailableBytes();
    if (available == 0 || available > kReserveBytes || processes.count() == 0) continue;
    const int rank = processes.Drop();
    most = static_cast<int>(processes.count());
    if (most == 0) {
      return Error(fmt::format(
          "rank {} was ended: the machine has {} of memory left; the program's host-side data "
          "needs a machine with more",
          rank, Gigabytes(available)));
    }
    waiting.push_back(rank);
  }
  return OkStatus();
}

Result<ProcessLog> RunRank(const CaptureEnvironment& environment, const Topology& topology,
                           const RankProgram& program, int rank, const std::vector<int>& before) {
  RankRunner runner(environment, topology, program, 1);
  std::vector<int> ranks = before;
  ranks.push_back(rank);
  std::optional<ProcessLog> log;
  RETURN_IF_ERROR(runner.Run(
      ranks,
      [&](RankEnd end) {
        if (end.failure.has_value()) return Status(*end.failure);
        log = std::move(end.log);
        return OkStatus();
      },
      nullptr));
  return std::move(*log);
}

}  // namespace drydock::capture
