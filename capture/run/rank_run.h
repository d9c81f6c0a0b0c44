// Runs a program as ranks of a cluster, a process each, to its end, and reads their logs.
#ifndef DRYDOCK_CAPTURE_RUN_RANK_RUN_H_
#define DRYDOCK_CAPTURE_RUN_RANK_RUN_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "capture/environment/environment.h"
#include "capture/log/log_file.h"
#include "core/base/files.h"
#include "core/base/process.h"
#include "core/base/result.h"
#include "core/model/topology.h"

namespace drydock::capture {

// What every rank runs.
struct RankProgram {
  std::vector<std::string> command;  // the first word is looked up in PATH
  std::string folder;                // that it runs in; empty: this process's
  // Whole; empty: this process's. What a rank knows and loads is set on top.
  Variables environment;
  std::function<Variables(int rank)> rank_variables;  // set last; may be null
  int world = 1;
  int ranks_per_host = 0;  // 0: one for each GPU of a host
  int time_limit_s = 0;    // of a rank; 0: none
  // A rank ends when it begins the forward pass behind so many iterations; 0: by itself.
  int iterations = 0;
  bool marks_lines = false;   // calls of communication tell their line
  // Records no operators and computes no values: the times of the host are the program's own
  // (TapeOptions::timed).
  bool only_times = false;
  bool shows_output = false;  // the program shares this process's stdout and stderr
};

// A rank that has ended.
struct RankEnd {
  int rank = 0;
  std::optional<ProcessLog> log;     // whole, if there is no failure
  std::optional<Error> failure;      // it died, exceeded its time, or never used a GPU
  std::string output, errors;        // the last lines of its stdout and stderr
  std::vector<std::string> refused;  // "cufftCreate of libcufft.so.11", each once
  int64_t peak_bytes = 0;            // of host memory
};
// Takes a rank's log, at once: logs are large. An error ends the run.
using UseRank = std::function<Status(RankEnd end)>;
using ShowRanks = std::function<void(const std::vector<int>& running)>;  // ranks, sorted

// Small values that a rank broadcasts are kept for the ranks of later calls and those that start
// later, and what its host reads for a later run with `only_times`. Starts at most `jobs` ranks at
// a time, in their order; 0: as many as there are cores and memory for, and the very first alone,
// to see what memory it takes. Not thread-safe.
class RankRunner {
 public:
  RankRunner(const CaptureEnvironment& environment, const Topology& topology,
             const RankProgram& program, int jobs)
      : environment_(environment), topology_(topology), program_(program), jobs_(jobs) {}

  // Calls `use` for each rank as it ends, well or not. `show`, which may be null, is called when
  // other ranks run than before. Errors, with which all ranks are ended: a rank cannot be started
  // or needs more memory than there is; one of `use`.
  Status Run(const std::vector<int>& ranks, const UseRank& use, const ShowRanks& show);

  // A folder for what the caller keeps of ranks, removed with this object, or by the keepers if
  // this process is killed. REQUIRES: Run has called `use`.
  const std::string& kept() const { return kept_->path(); }

 private:
  int JobsNow() const;

  const CaptureEnvironment& environment_;
  const Topology& topology_;
  const RankProgram& program_;
  int jobs_;
  int64_t peak_bytes_ = 0;  // of any rank so far
  // What ranks broadcast to those that run later, and what the caller keeps.
  std::optional<StagedDirectory> kept_;
};

// Runs one rank, after those of `before`, whose small broadcasts it reads. Errors: also a failure of
// any of them.
Result<ProcessLog> RunRank(const CaptureEnvironment& environment, const Topology& topology,
                           const RankProgram& program, int rank,
                           const std::vector<int>& before = {});

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_RUN_RANK_RUN_H_
