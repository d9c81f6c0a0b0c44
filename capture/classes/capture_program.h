// Captures a program: runs one rank of each class of ranks on this machine, without a GPU, and
// makes the workload of the whole world from them.
#ifndef DRYDOCK_CAPTURE_CLASSES_CAPTURE_PROGRAM_H_
#define DRYDOCK_CAPTURE_CLASSES_CAPTURE_PROGRAM_H_

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "capture/environment/environment.h"
#include "capture/run/rank_run.h"
#include "core/base/result.h"
#include "core/model/topology.h"
#include "core/model/workload.h"

namespace drydock::capture {

// What a capture is doing, for people who wait.
struct CaptureProgress {
  int ranks_ended = 0;    // processes that have ended well
  int ranks_running = 0;  // processes that run now
  int ranks_known = 0;    // that have to run, as far as is known; grows
  int classes = 0;        // as far as is known; grows
  std::string doing;      // "runs ranks 0 and 3", "checks that calls match"
};

struct CaptureOptions {
  std::vector<std::string> command;  // the program; the first word is looked up in PATH
  std::string folder;                // that it runs in; empty: this process's
  // The program's whole environment. Empty: this process's. The capture sets what a rank knows by
  // (RANK, WORLD_SIZE, MASTER_ADDR, ...) and what it loads (LD_PRELOAD, PYTHONPATH) on top.
  Variables environment;
  // Further variables of one rank, set last: what a launcher other than torchrun tells it
  // (SLURM_PROCID). May be null.
  std::function<Variables(int rank)> rank_variables;
  int world = 1;            // ranks
  int ranks_per_host = 0;   // rank r runs on host r / ranks_per_host; 0: one for each GPU of a host
  int iteration = 3;        // that becomes the workload; 1: the first
  bool all_ranks = false;   // run every rank, to prove that ranks of a class do the same
  // False: leaves out what differs from capture to capture, so that two have the same bytes: the
  // host's own times, and the peaks of memory (threads of PyTorch free some of it when they can).
  bool with_times = true;
  int jobs = 0;             // ranks that run at the same time; 0: by cores and memory
  int time_limit_s = 1800;  // of one rank
  std::function<void(const CaptureProgress&)> progress;  // called on this thread; may be null
};

// Ranks that run the same program.
struct CapturedClass {
  std::vector<int> ranks;
  std::vector<int> captured;  // that have run; the first stands for the others
};

struct CapturedWorkload {
  Workload workload;              // of all GPUs of the cluster; unused ones have an empty program
  std::string attention_backend;  // for WriteWorkload
  std::vector<CapturedClass> classes;  // by class of the workload, without that of unused GPUs
  std::string output;                  // the end of what rank 0 wrote to stdout
  std::string processor;               // that the host's times are of; "": none are kept
  // What was taken for granted, for the summary: "12 kernels are estimated by the bytes they move".
  std::vector<std::string> notes;
};

// The command line is `environment`'s Python, directly or through a launcher that starts it.
//
// Errors: a rank cannot be started, dies (the error has the innermost line of the program), makes
// too few iterations or exceeds its time; ranks of a class differ; calls of ranks do not match.
// Leaves no process and no file behind, however it ends.
Result<CapturedWorkload> CaptureProgram(const CaptureEnvironment& environment,
                                        const Topology& topology, const CaptureOptions& options);

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_CLASSES_CAPTURE_PROGRAM_H_
