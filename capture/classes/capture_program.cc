#include "capture/classes/capture_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "capture/classes/broadcasts.h"
#include "capture/classes/call_lines.h"
#include "capture/classes/class_tape.h"
#include "capture/classes/partition.h"
#include "capture/classes/summary.h"
#include "capture/classes/world_groups.h"
#include "capture/classes/world_workload.h"
#include "capture/run/process_facts.h"
#include "capture/run/rank_run.h"
#include "capture/tape/launch_costs.h"
#include "capture/tape/make_tape.h"
#include "core/base/plural.h"
#include "core/model/calls/rank_list.h"

namespace drydock::capture {
namespace {

// Ranks of each class that run: one, and two more that have to do the same.
constexpr size_t kRanksOfClass = 3;
// Each round captures ranks that the last one made necessary. Programs settle after a few.
constexpr int kMostRounds = 40;

// Of each class: the first, the last, the one in the middle, and those after the first.
std::vector<int> Wanted(const std::vector<int>& ranks, const std::map<int, std::string>& known) {
  std::vector<int> order = {ranks.front(), ranks.back(), ranks[ranks.size() / 2]};
  for (size_t i = 1; i < std::min(ranks.size(), kRanksOfClass); ++i) order.push_back(ranks[i]);
  std::set<int> chosen;
  for (const int rank : order) {
    if (chosen.size() < kRanksOfClass) chosen.insert(rank);
  }
  const auto captured = std::count_if(ranks.begin(), ranks.end(), [&](int rank) {
    return known.count(rank) > 0 && chosen.count(rank) == 0;
  });
  std::vector<int> wanted;
  for (const int rank : order) {
    const bool is_new = known.count(rank) == 0 && chosen.erase(rank) > 0;
    if (is_new) wanted.push_back(rank);
  }
  // Ranks that have run already are as good. The first one always runs, to stand for the class.
  const size_t enough = wanted.size() - std::min(wanted.size(), static_cast<size_t>(captured));
  const bool needs_first = !wanted.empty() && wanted.front() == ranks.front();
  wanted.resize(std::max<size_t>(enough, needs_first ? 1 : 0));
  return wanted;
}

class Capture {
 public:
  Capture(const CaptureEnvironment& environment, const Topology& topology,
          const CaptureOptions& options)
      : topology_(topology),
        options_(options),
        groups_(options.world),
        program_(ProgramOf(options)),
        runner_(environment, topology, program_, options.jobs),
        lines_(environment, topology, program_) {
    summary_.torch_version = environment.torch_version;
  }

  Result<CapturedWorkload> Run() {
    ASSIGN_OR_RETURN(const std::vector<RankPlace> places,
                     PlaceRanks(topology_, options_.world, options_.ranks_per_host));
    std::vector<int> gpus;
    for (const RankPlace& place : places) {
      const HostKind& kind = topology_.kind_of_host(place.host);
      hosts_.push_back(
          {place.local, kind.gpu * (CapturedProcess::kMaxGpus + 1) + place.ranks_beside});
      gpus.push_back(place.gpu);
    }
    Partition partition(&groups_, hosts_);
    partition_ = &partition;
    RETURN_IF_ERROR(FindClasses());
    if (options_.all_ranks) RETURN_IF_ERROR(CheckAll());
    if (options_.with_times) RETURN_IF_ERROR(MeasureHosts());
    return Finish(gpus);
  }

 private:
  static RankProgram ProgramOf(const CaptureOptions& options) {
    RankProgram program;
    program.command = options.command;
    program.folder = options.folder;
    program.environment = options.environment;
    program.rank_variables = options.rank_variables;
    program.world = options.world;
    program.ranks_per_host = options.ranks_per_host;
    program.time_limit_s = options.time_limit_s;
    program.iterations = options.iteration;
    return program;
  }

  Status FindClasses() {
    RETURN_IF_ERROR(CaptureRanks({0}));
    for (int round = 0; round < kMostRounds; ++round) {
      classes_ = Merged(partition_->Classes());
      std::vector<int> wanted;
      for (const std::vector<int>& ranks : classes_) {
        if (keys_.count(ranks.front()) == 0) wanted.push_back(ranks.front());
      }
      // Once each class has a rank that has run, two more of each.
      const bool verifies = wanted.empty();
      for (const std::vector<int>& ranks : classes_) {
        if (!verifies) break;
        const std::vector<int> more = Wanted(ranks, keys_);
        wanted.insert(wanted.end(), more.begin(), more.end());
      }
      std::sort(wanted.begin(), wanted.end());
      RETURN_IF_ERROR(CaptureRanks(wanted));
      if (Difference().has_value()) {
        const std::string why = Difference()->message();
        if (!partition_->Explain(keys_)) return WithLines();
        summary_.splits.push_back(why);
      } else if (wanted.empty()) {
        return OkStatus();
      }
    }
    return Difference().value_or(Error("the ranks of the program fall into ever more classes"));
  }

  // Makes one class of those on the same kind of host whose first ranks did the same: a root that
  // matters in one stage of a pipeline does not in the others.
  std::vector<std::vector<int>> Merged(const std::vector<std::vector<int>>& classes) const {
    std::map<std::pair<int, std::string>, size_t> known;
    std::vector<std::vector<int>> merged;
    for (const std::vector<int>& ranks : classes) {
      const auto key = keys_.find(ranks.front());
      if (key != keys_.end()) {
        const int kind = hosts_[static_cast<size_t>(ranks.front())].kind;
        const auto [at, added] = known.emplace(std::pair(kind, key->second), merged.size());
        if (!added) {
          std::vector<int>& all = merged[at->second];
          const auto middle = static_cast<std::ptrdiff_t>(all.size());
          all.insert(all.end(), ranks.begin(), ranks.end());
          std::inplace_merge(all.begin(), all.begin() + middle, all.end());
          continue;
        }
      }
      merged.push_back(ranks);
    }
    return merged;
  }

  // Runs all other ranks.
  Status CheckAll() {
    std::vector<int> others;
    for (int rank = 0; rank < options_.world; ++rank) {
      if (keys_.count(rank) == 0) others.push_back(rank);
    }
    RETURN_IF_ERROR(CaptureRanks(others));
    if (Difference().has_value()) return WithLines();
    return OkStatus();
  }

  // Returns the difference and the lines of Python at which ranks begin to differ.
  Error WithLines() {
    const Differing differing = *FindDifference();
    const ClassTape &a = *tapes_.at(keys_.at(differing.first)),
                    &b = *tapes_.at(keys_.at(differing.other));
    size_t at_a = 0, at_b = 0;
    (void)FirstDifference(a, "", b, "", &at_a, &at_b);
    std::string message = Difference()->message();
    const std::string line_a = lines_.Of(a, at_a), line_b = lines_.Of(b, at_b);
    if (!line_a.empty()) message += fmt::format("; rank {}: {}", a.rank, line_a.substr(2));
    if (!line_b.empty()) message += fmt::format("; rank {}: {}", b.rank, line_b.substr(2));
    return Error(std::move(message));
  }

  // Two ranks of a class that differ.
  struct Differing {
    size_t of_class = 0;
    int first = 0, other = 0;
  };
  std::optional<Differing> FindDifference() const {
    for (size_t c = 0; c < classes_.size(); ++c) {
      const std::vector<int>& ranks = classes_[c];
      const auto first =
          std::find_if(ranks.begin(), ranks.end(), [&](int rank) { return keys_.count(rank) > 0; });
      for (const int rank : ranks) {
        const auto key = keys_.find(rank);
        if (key == keys_.end() || key->second == keys_.at(*first)) continue;
        return Differing{c, *first, rank};
      }
    }
    return std::nullopt;
  }
  std::optional<Error> Difference() const {
    const std::optional<Differing> found = FindDifference();
    if (!found.has_value()) return std::nullopt;
    return DescribeDifference(found->of_class, found->first, found->other);
  }

  Error DescribeDifference(size_t c, int first, int other) const {
    const ClassTape &a = *tapes_.at(keys_.at(first)), &b = *tapes_.at(keys_.at(other));
    const std::string difference =
        FirstDifference(a, fmt::format("rank {}", first), b, fmt::format("rank {}", other))
            .value_or("their tapes differ");
    return Error(
        fmt::format("rank {} should do the same as rank {} (class {}: ranks {}), but does not: {}",
                    other, first, c, RanksText(classes_[c]), difference));
  }

  // Runs ranks, and before them the roots of what is broadcast to them.
  Status CaptureRanks(const std::vector<int>& ranks) {
    std::set<int> waiting(ranks.begin(), ranks.end());
    std::set<int> tried;
    known_ += static_cast<int>(ranks.size());
    while (!waiting.empty()) {
      std::vector<int> ready;
      for (auto next = waiting.begin(); next != waiting.end(); ++next) {
        bool is_ready = true;
        for (const int root : RootsOf(*next)) {
          is_ready = false;
          // Sets stay as they are when they grow: a lower rank has its turn in the next round.
          known_ += waiting.insert(root).second ? 1 : 0;
        }
        if (is_ready) ready.push_back(*next);
      }
      // Ranks may be roots of each other. The lowest one runs first.
      if (ready.empty()) ready.push_back(*waiting.begin());
      RETURN_IF_ERROR(CaptureReady(ready, &tried, &waiting));
    }
    return OkStatus();
  }

  // The roots that have not run.
  std::set<int> RootsOf(int rank) const {
    std::set<int> roots;
    for (const auto& [kind, position] : roots_) {
      const Membership* own = groups_.Find(rank, kind);
      if (own == nullptr || position >= groups_.size_of(own->group)) continue;
      const TapeGroup& group = groups_.groups()[static_cast<size_t>(own->group)];
      const int root = group.ranks[static_cast<size_t>(position)];
      if (root != rank && keys_.count(root) == 0) roots.insert(root);
    }
    return roots;
  }

  // Runs these ranks, and takes their tapes in the order of the ranks. A rank that lacked a
  // broadcast waits for a second run, which is its last.
  Status CaptureReady(const std::vector<int>& ranks, std::set<int>* tried, std::set<int>* waiting) {
    struct Captured {
      std::optional<RankTape> tape;
      std::string log;  // file
      std::optional<Error> failure;
      LogBroadcasts broadcasts;
    };
    std::map<int, Captured> all;
    const auto use = [&](RankEnd end) -> Status {
      Captured& captured = all[end.rank];
      captured.failure = end.failure;
      if (end.log.has_value()) captured.broadcasts = FindBroadcasts(*end.log);
      if (!captured.failure.has_value()) {
        Result<RankTape> tape = MakeTape(*end.log, {options_.iteration, options_.world, nullptr});
        if (tape.ok()) {
          captured.tape = std::move(tape).value();
          if (options_.with_times) {
            ASSIGN_OR_RETURN(captured.log, WriteLog(*end.log));
          }
        } else {
          captured.failure = WithOutput(tape.error(), end);
        }
      }
      const bool may_try_again = captured.broadcasts.unknown && tried->count(end.rank) == 0;
      if (captured.failure.has_value() && !may_try_again) return *captured.failure;
      if (end.rank == 0) output_ = end.output;
      for (const std::string& refused : end.refused) summary_.refused[refused].insert(end.rank);
      ++ended_;
      return OkStatus();
    };
    RETURN_IF_ERROR(
        runner_.Run(ranks, use, [&](const std::vector<int>& running) { Show(running); }));
    for (const auto& [rank, captured] : all) {
      groups_.Add(captured.broadcasts.groups);
      roots_.insert(captured.broadcasts.roots.begin(), captured.broadcasts.roots.end());
    }
    // Before any of these counts as a root that has run: a rank may lack what one beside it sent.
    std::set<int> again;
    for (const auto& [rank, captured] : all) {
      const bool is_first = tried->insert(rank).second;
      if (captured.broadcasts.unknown && is_first && !RootsOf(rank).empty()) again.insert(rank);
    }
    for (auto& [rank, captured] : all) {
      if (again.count(rank) > 0) {
        ++known_;
        continue;
      }
      if (captured.failure.has_value()) return *captured.failure;
      if (captured.broadcasts.unknown) summary_.lacked.insert(rank);
      ASSIGN_OR_RETURN(ClassTape made, MakeClassTape(*captured.tape, groups_));
      partition_->Note(FindPlaces(made));
      Keep(rank, std::move(made), captured.log);
      captured.tape.reset();
      waiting->erase(rank);
    }
    return OkStatus();
  }

  // What the program said may tell why it did not do what it should.
  static Error WithOutput(const Error& error, const RankEnd& end) {
    std::vector<Diagnostic> all = error.diagnostics();
    const auto add = [&](const char* name, const std::string& text) {
      if (text.empty()) return;
      all.emplace_back().message =
          fmt::format("the end of what rank {} wrote to {}:\n{}", end.rank, name, text);
    };
    add("stdout", end.output);
    add("stderr", end.errors);
    return Error(std::move(all));
  }

  // Keeps a log until the run that measures the host. Those of all classes may not fit into memory.
  Result<std::string> WriteLog(const ProcessLog& log) {
    const std::string path = fmt::format("{}/rank-{}.log", runner_.kept(), log.rank());
    RETURN_IF_ERROR(log.Write(path));
    return path;
  }

  // Ranks whose tapes are alike have the same key, and the first of the tapes. Only its log stays.
  void Keep(int rank, ClassTape tape, const std::string& log) {
    for (int number = 0;; ++number) {
      const std::string key = fmt::format("{} {}", tape.key, number);
      const auto known = tapes_.find(key);
      if (known != tapes_.end() && !AreAlike(*known->second, tape)) continue;
      keys_[rank] = key;
      if (known == tapes_.end()) {
        tapes_[key] = std::make_shared<const ClassTape>(std::move(tape));
        if (!log.empty()) logs_[key] = log;
      } else {
        std::error_code ignored;
        if (!log.empty()) std::filesystem::remove(log, ignored);
        summary_.Compare(*known->second, tape);
      }
      return;
    }
  }

  // Runs the rank of each class's tape once more, without observers, and gives the tape the host's
  // times of that run.
  Status MeasureHosts() {
    std::map<int, std::string> keys;
    for (const std::vector<int>& ranks : classes_) {
      const std::string& key = keys_.at(ranks.front());
      keys[tapes_.at(key)->rank] = key;
    }
    std::vector<int> ranks;
    for (const auto& [rank, key] : keys) ranks.push_back(rank);
    known_ += static_cast<int>(ranks.size());
    program_.only_times = true;
    summary_.processor = TapeOf(classes_.front()).host.processor;
    return runner_.Run(
        ranks, [&](RankEnd end) { return TakeTimes(keys.at(end.rank), end); },
        [&](const std::vector<int>& running) { Show(running); });
  }

  const ClassTape& TapeOf(const std::vector<int>& ranks) const {
    return *tapes_.at(keys_.at(ranks.front()));
  }

  // A run that fails without observers leaves the times of the first run.
  Status TakeTimes(const std::string& key, const RankEnd& end) {
    ++ended_;
    summary_.observed.insert(end.rank);
    if (end.failure.has_value() || !end.log.has_value()) return OkStatus();
    ASSIGN_OR_RETURN(const ProcessLog log, ProcessLog::Read(logs_.at(key)));
    ASSIGN_OR_RETURN(const RankTape tape,
                     MakeTape(log, {options_.iteration, options_.world, &*end.log}));
    if (!tape.host.is_alone) return OkStatus();
    ASSIGN_OR_RETURN(ClassTape made, MakeClassTape(tape, groups_));
    tapes_[key] = std::make_shared<const ClassTape>(std::move(made));
    summary_.observed.erase(end.rank);
    return OkStatus();
  }

  void Show(const std::vector<int>& running) const {
    if (!options_.progress) return;
    CaptureProgress progress;
    progress.ranks_ended = ended_;
    progress.ranks_running = static_cast<int>(running.size());
    progress.ranks_known = known_;
    progress.classes = static_cast<int>(classes_.size());
    progress.doing =
        running.empty() ? "makes tapes of what ran" : "runs rank " + RanksText(running);
    options_.progress(progress);
  }

  Result<CapturedWorkload> Finish(const std::vector<int>& gpus) {
    if (options_.progress) {
      options_.progress(
          {ended_, 0, known_, static_cast<int>(classes_.size()), "matches the calls of all ranks"});
    }
    std::vector<WorldClass> classes;
    CapturedWorkload captured;
    for (const std::vector<int>& ranks : classes_) {
      std::shared_ptr<const ClassTape> tape = tapes_.at(keys_.at(ranks.front()));
      if (!options_.with_times) {
        // Peaks differ between captures, and programs that differ in nothing else are one class.
        auto without_peaks = std::make_shared<ClassTape>(*tape);
        without_peaks->memory = {};
        tape = std::move(without_peaks);
      }
      classes.push_back({ranks, std::move(tape)});
      CapturedClass& of_ranks = captured.classes.emplace_back();
      of_ranks.ranks = ranks;
      for (const int rank : ranks) {
        if (keys_.count(rank) > 0) of_ranks.captured.push_back(rank);
      }
    }
    const LineOfCall line = [this](const ClassTape& tape, size_t entry) {
      return lines_.Of(tape, entry);
    };
    ASSIGN_OR_RETURN(captured.workload, MakeWorldWorkload(topology_, gpus, groups_, classes, line));
    if (!options_.with_times) {
      for (Submodule& submodule : captured.workload.submodules) submodule.host = Time();
      ASSIGN_OR_RETURN(captured.workload.launch, LaunchCosts(TapeHost()));
    }
    captured.output = output_;
    captured.processor = summary_.processor;
    for (const WorldClass& of_ranks : classes) {
      if (captured.attention_backend.empty()) {
        captured.attention_backend = of_ranks.tape->attention_backend;
      }
    }
    summary_.iteration = options_.iteration;
    summary_.ranks_run = static_cast<int>(keys_.size());
    Describe(options_.command, groups_, classes, summary_, &captured.workload, &captured.notes);
    return captured;
  }

  const Topology& topology_;
  const CaptureOptions& options_;
  WorldGroups groups_;
  RankProgram program_;
  RankRunner runner_;
  CallLines lines_;
  std::vector<HostFacts> hosts_;  // of each rank
  Partition* partition_ = nullptr;
  std::vector<std::vector<int>> classes_;
  std::map<int, std::string> keys_;                                // by rank that has run
  std::map<std::string, std::shared_ptr<const ClassTape>> tapes_;  // by key
  std::map<std::string, std::string> logs_;                        // files, of these tapes
  std::set<std::pair<GroupKind, int>> roots_;                      // of small broadcasts
  CaptureSummary summary_;
  std::string output_;
  int ended_ = 0, known_ = 0;
};

}  // namespace

Result<CapturedWorkload> CaptureProgram(const CaptureEnvironment& environment,
                                        const Topology& topology, const CaptureOptions& options) {
  return Capture(environment, topology, options).Run();
}

}  // namespace drydock::capture
