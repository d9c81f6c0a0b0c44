// Evaluates points of a study in this process: workload, plans, kernel times, replay and figures,
// without files in between. The result is that of the five tools, to the picosecond.
//
// What two points have in common is computed once: the cluster, the plan of a call over groups of
// the same placement, the files of kernel times. Not thread-safe; NCCL's settings hold for the life
// of a process, so a process evaluates points of one cluster after another only if these are equal.
#ifndef DRYDOCK_STUDY_EVALUATE_EVALUATOR_H_
#define DRYDOCK_STUDY_EVALUATE_EVALUATOR_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/kernel_times.h"
#include "core/model/workload.h"
#include "report/band/band_errors.h"
#include "study/evaluate/evaluation.h"
#include "workload-gen/generate/generate.h"

namespace drydock {

struct EvaluatorOptions {
  JobSource model;
  std::string cluster;
  std::string network = "fluid";  // EvaluatedNetworks()
  std::vector<std::string> gpu_profiles;
  // Points that need more memory than their GPUs have are simulated, too.
  bool simulate_unfit = false;
};

// The networks that a study can use.
std::vector<std::string> EvaluatedNetworks();

// A point before its workload: a layout that is possible.
struct Outline {
  Generated run;  // without its workload
  ParallelLayout layout;
  std::vector<std::string> cluster_overrides;  // what of the assignments is the cluster's
  // GPUs or links of the cluster differ from their files (jitter, faults).
  bool varies() const { return !run.cluster.variation.none(); }
};

// A point before its replay, with as few micro-batches as its memory and its schedule show
// themselves in.
struct Prepared {
  PointState state = PointState::kDone;  // kDone: it can be simulated
  std::string reason;
  std::optional<MemoryVerdict> memory;
  Workload workload;  // of kDone
  KernelTimes times;  // of kDone
  int64_t more = 0;   // micro-batches of the point beyond those of `workload`
  bool varies = false;
};

// What points had in common.
struct Shared {
  int64_t clusters_read = 0, clusters_shared = 0;
  int64_t plans_made = 0, plans_shared = 0;
};

class Evaluator {
 public:
  // Errors: a file of assumptions that cannot be read.
  static Result<std::unique_ptr<Evaluator>> Make(EvaluatorOptions options);
  ~Evaluator();

  // `assignments`: as --set takes them, after those of the study. Errors are those of this machine
  // (a library that is missing), not of the point.
  Result<Evaluation> Evaluate(const std::vector<std::string>& assignments);

  // What Evaluate does before the workload. Errors are the point's.
  Result<Outline> OutlineOf(const std::vector<std::string>& assignments);
  // What Evaluate does before plans and replay.
  Result<Prepared> Prepare(const std::vector<std::string>& assignments);
  // The kernel times of a workload of this outline. Errors are the point's.
  Result<KernelTimes> TimesOf(const Outline& outline, const Workload& workload);

  Shared shared() const;

 private:
  struct Cluster;

  explicit Evaluator(EvaluatorOptions options);
  Result<Cluster*> ClusterOf(const std::vector<std::string>& overrides);
  // Reads model and cluster.
  Result<Cluster*> Load(const std::vector<std::string>& assignments, Generated* run);
  Result<KernelTimes> TimesOf(const Workload& workload, const std::string& attention,
                              Cluster* cluster);
  Result<Summary> Simulated(Generated run, Cluster* cluster, Evaluation* evaluation);

  EvaluatorOptions options_;
  std::optional<BandErrors> band_errors_;
  std::map<std::vector<std::string>, std::unique_ptr<Cluster>> clusters_;
  Shared shared_;
};

// The first message of an error, with its place in a file, on one line.
std::string OneLine(const Error& error);

}  // namespace drydock

#endif  // DRYDOCK_STUDY_EVALUATE_EVALUATOR_H_
