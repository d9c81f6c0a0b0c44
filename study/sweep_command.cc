// drydock-sweep MODEL CLUSTER --over KEY=VALUES -o STUDY: evaluates every point of a product of
// axes, and sets the points side by side.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "core/base/files.h"
#include "core/base/plural.h"
#include "core/base/spelling.h"
#include "core/base/writable.h"
#include "core/schema/cluster/cluster_file.h"
#include "drydock/shipped/shipped_files.h"
#include "study/axes/space.h"
#include "study/axes/study_file.h"
#include "study/commands.h"
#include "study/jobs/run_jobs.h"
#include "study/page/sweep_page.h"
#include "study/points/point_key.h"
#include "study/points/point_store.h"
#include "study/shared_notes.h"
#include "study/study_run.h"
#include "study/table/sweep_table.h"
#include "study/workers/local_workers.h"

namespace drydock {
namespace {

const ToolInfo kTool = {
    "drydock-sweep",
    "Predicts every point of a product of values, and sets the points side by side.",
    "reads a model and a cluster, or a study file (docs/reference/study-file.md); writes "
    "STUDY/points/ID/, a folder for each point, STUDY/sweep.csv and STUDY/sweep.html",
    "drydock-sweep llama-3-70b dgx-h100-8 --over parallel.tensor=1,2,4,8 --over "
    "parallel.pipeline=1,2,4 -o sweeps/layouts",
    false};

constexpr size_t kMostPointsUnasked = 100'000;
constexpr size_t kMostPoints = 10'000'000;
constexpr const char* kTableName = "sweep.csv";
constexpr const char* kPageName = "sweep.html";

struct Options {
  std::string model, cluster;  // or a study file and nothing
  std::string megatron_arguments;
  std::vector<std::string> over, zip, constraints, set, metrics, gpu_profiles;
  std::string network, out, on = "local", job;
  int jobs = 0;
  int64_t sequence = 0;
  size_t show = 10;
  bool simulate_unfit = false, no_pages = false, yes = false;
};

void Declare(CLI::App* app, Options* options, const CommonOptions&) {
  app->add_option("model", options->model,
                  "A model.yaml, a config.json, or the name of a shipped model; or a study file, "
                  "alone")
      ->type_name("MODEL");
  app->add_option("cluster", options->cluster, "A cluster.topo, or the name of a shipped cluster")
      ->type_name("CLUSTER");
  app->add_option("--megatron-args", options->megatron_arguments,
                  "In place of MODEL, a Megatron-LM launch script, a file of its arguments or a "
                  "recipe")
      ->type_name("SCRIPT");
  app->add_option("--over", options->over,
                  "An axis: a key of the model or the cluster, and the values that it takes, such "
                  "as parallel.tensor=1,2,4 or cluster.hosts=8..64*2; may be repeated")
      ->type_name("KEY=VALUES")
      ->allow_extra_args(false);
  app->add_option("--zip", options->zip,
                  "Axes that advance together, by their names and commas; may be repeated")
      ->type_name("A,B")
      ->allow_extra_args(false);
  app->add_option("--constraint", options->constraints,
                  "Only points that fulfill this, such as 'tensor * pipeline <= 64'; may be "
                  "repeated")
      ->type_name("EXPRESSION")
      ->allow_extra_args(false);
  app->add_option("--set", options->set,
                  "section.key=value: replaces a value of either file at every point; may be "
                  "repeated")
      ->allow_extra_args(false);
  app->add_option("--sequence", options->sequence, "Tokens of a sample, as --set model.sequence=N")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 24));
  app->add_option("--network", options->network,
                  "analytical or fluid (default). A point of interest over packets: drydock run")
      ->type_name("KIND");
  app->add_option("--gpu-profile", options->gpu_profiles,
                  "Measured kernel times (CSV), used before the shipped ones; may be repeated")
      ->type_name("FILE")
      ->allow_extra_args(false);
  app->add_option("--metric", options->metrics,
                  "A figure that the table on the terminal shows; the first one ranks (default: "
                  "tokens_per_s, iteration_s, mfu, memory_gb). May be repeated; 'help' lists them")
      ->type_name("NAME")
      ->allow_extra_args(false);
  app->add_option("--show", options->show, "Points that the terminal shows")->capture_default_str();
  app->add_flag("--simulate-unfit", options->simulate_unfit,
                "Simulate also the points that need more memory than their GPUs have");
  app->add_flag("--no-pages", options->no_pages, "Leave out report.html of each point");
  app->add_flag("--yes", options->yes, "Allow more than 100,000 points");
  app->add_option(
         "--on", options->on,
         "Where points are evaluated: local[:N], in N processes; "
         "slurm[:OPTION=VALUE,...], in an array of jobs with these options of sbatch; srun, "
         "in the allocation that this command runs in; command:'... {job} ...', by a "
         "command line for each job")
      ->capture_default_str()
      ->type_name("ENGINE");
  app->add_option("--job", options->job, "Evaluates the points of STUDY/jobs/N.json")->group("");
  app->add_option("--jobs", options->jobs,
                  "Points evaluated at the same time (default: one a core); not with --on local: "
                  "jobs that share the points (default: 8)")
      ->check(CLI::Range(1, 1024))
      ->type_name("N");
  app->add_option("-o,--out", options->out, "Directory of the study")->type_name("STUDY");
  CheckOptions(app, [options]() -> Status {
    if (!options->metrics.empty() && options->metrics.front() == "help") return OkStatus();
    if (!options->job.empty()) return OkStatus();
    RETURN_IF_ERROR(ParseEngine(options->on));
    if (options->model.empty()) return MissingOption("MODEL CLUSTER, or a study file");
    for (const std::string& metric : options->metrics) RETURN_IF_ERROR(FindMetric(metric));
    if (options->sequence > 0) {
      options->set.push_back(fmt::format("model.sequence={}", options->sequence));
    }
    return SplitOverrides(options->set).ok() ? OkStatus()
                                             : Status(SplitOverrides(options->set).error());
  });
}

// A sweep, from the command line and the study file together.
struct Sweep {
  EvaluatorOptions evaluator;
  std::vector<std::string> set;
  std::vector<std::string> metrics;
  Space space;
};

Status CheckNetwork(const std::string& network) {
  const std::vector<std::string> known = EvaluatedNetworks();
  if (std::find(known.begin(), known.end(), network) != known.end()) return OkStatus();
  if (network == "packet" || network == "auto") {
    return Error(
        fmt::format("a study has no --network {}; use fluid, and 'drydock run' for a "
                    "point of interest",
                    network));
  }
  return Error(fmt::format("no network is called '{}'{}; a study has {}", network,
                           DidYouMean(network, known), Join(known, " and ")));
}

// Takes from the study file what the command line does not state.
Result<StudyFile> Merge(const Options& options) {
  const bool alone = options.cluster.empty() && options.megatron_arguments.empty();
  StudyFile study;
  if (alone) {
    if (!FileExists(options.model) &&
        FileMeant(ShippedKind::kModel, options.model) != options.model) {
      return Error(
          fmt::format("{0} is a model; it needs a cluster: drydock sweep {0} CLUSTER "
                      "--over KEY=VALUES",
                      options.model));
    }
    ASSIGN_OR_RETURN(study, LoadStudy(options.model));
  } else if (options.megatron_arguments.empty()) {
    study.model = options.model;
    study.cluster = options.cluster;
  } else {
    if (!options.cluster.empty()) {
      return Error(
          fmt::format("--megatron-args takes the place of {}; give one of them", options.model));
    }
    study.model = options.megatron_arguments;
    study.cluster = options.model;
  }
  for (const std::string& text : options.over) {
    ASSIGN_OR_RETURN(Axis axis, ParseAxis(text));
    const auto same = std::find_if(study.axes.begin(), study.axes.end(), [&](const Axis& each) {
      return each.key == axis.key && each.location.known();
    });
    // The command line replaces an axis of the study file.
    if (same == study.axes.end()) {
      study.axes.push_back(std::move(axis));
    } else {
      *same = std::move(axis);
    }
  }
  for (const Axis& axis : study.axes) {
    for (const std::string& assignment : options.set) {
      if (assignment.substr(0, assignment.find('=')) != axis.key) continue;
      return Error(
          fmt::format("--set {} and the axis {}: leave one of them out", assignment, axis.key));
    }
  }
  for (const std::string& text : options.zip) {
    std::vector<std::string>& names = study.zip.emplace_back();
    for (size_t begin = 0; begin <= text.size();) {
      const size_t end = std::min(text.find(',', begin), text.size());
      names.push_back(text.substr(begin, end - begin));
      begin = end + 1;
    }
  }
  const auto add = [](const std::vector<std::string>& from, std::vector<std::string>* to) {
    to->insert(to->end(), from.begin(), from.end());
  };
  add(options.constraints, &study.constraints);
  add(options.set, &study.set);
  add(options.gpu_profiles, &study.gpu_profiles);
  if (!options.network.empty()) study.network = options.network;
  if (!options.metrics.empty()) study.metrics = options.metrics;
  if (study.network.empty()) study.network = "fluid";
  if (study.metrics.empty()) study.metrics = {"tokens_per_s", "iteration_s", "mfu", "memory_gb"};
  return study;
}

Result<Sweep> SweepOf(const Options& options) {
  ASSIGN_OR_RETURN(StudyFile study, Merge(options));
  RETURN_IF_ERROR(CheckNetwork(study.network));
  for (const std::string& metric : study.metrics) RETURN_IF_ERROR(FindMetric(metric));
  RETURN_IF_ERROR(SplitOverrides(study.set));
  Sweep sweep;
  sweep.evaluator.model.path = options.megatron_arguments.empty()
                                   ? FileMeant(ShippedKind::kModel, study.model)
                                   : study.model;
  sweep.evaluator.model.megatron_arguments = !options.megatron_arguments.empty();
  sweep.evaluator.cluster = FileMeant(ShippedKind::kCluster, study.cluster);
  sweep.evaluator.network = study.network;
  sweep.evaluator.gpu_profiles = study.gpu_profiles;
  sweep.evaluator.simulate_unfit = options.simulate_unfit;
  sweep.set = study.set;
  sweep.metrics = study.metrics;
  ASSIGN_OR_RETURN(sweep.space, MakeSpace(std::move(study.axes), study.zip, study.constraints));
  return sweep;
}

// The values of a point, after those of all points.
std::vector<std::string> AllOf(const Sweep& sweep, const SpacePoint& point) {
  std::vector<std::string> all = sweep.set;
  const std::vector<std::string> own = AssignmentsOf(sweep.space, point);
  all.insert(all.end(), own.begin(), own.end());
  return all;
}

// Reads model and cluster with the values of a point.
Result<Generated> ReadPoint(const Sweep& sweep, const SpacePoint& point) {
  ASSIGN_OR_RETURN(const Overrides overrides, SplitOverrides(AllOf(sweep, point)));
  Generated read;
  ASSIGN_OR_RETURN(read.job, LoadJob(sweep.evaluator.model, overrides.model, &read.notes));
  ASSIGN_OR_RETURN(read.cluster, LoadCluster(sweep.evaluator.cluster, overrides.cluster));
  return read;
}

// If no point can be read, the study is wrong (an axis that names no key, a file that is missing),
// not its points. Tries at most kMostTried of them, and returns the first that can be read.
Result<Generated> FirstReadable(const Sweep& sweep, const std::vector<SpacePoint>& points) {
  constexpr size_t kMostTried = 1000;
  const size_t step = (points.size() + kMostTried - 1) / kMostTried;
  std::optional<Error> first;
  for (size_t i = 0; i < points.size(); i += step) {
    Result<Generated> read = ReadPoint(sweep, points[i]);
    if (read.ok()) return read;
    if (!first) first = read.error();
  }
  return *first;
}

std::string SharedText(const Shared& shared) {
  const auto of = [](int64_t shared_count, int64_t made) {
    return fmt::format("{} of {}", shared_count, shared_count + made);
  };
  return fmt::format("shared between points: {} plans of calls, {} clusters",
                     of(shared.plans_shared, shared.plans_made),
                     of(shared.clusters_shared, shared.clusters_read));
}

SweepTable TableOf(const Sweep& sweep) {
  SweepTable table;
  table.model = BaseName(sweep.evaluator.model.path);
  table.cluster = BaseName(sweep.evaluator.cluster);
  table.network = sweep.evaluator.network;
  table.set = sweep.set;
  table.metrics = sweep.metrics;
  for (const Axis& axis : sweep.space.axes) table.axes.push_back(axis.key);
  return table;
}

// Points with equal values of all keys have equal keys; they are evaluated once.
std::vector<WorkItem> MissingOf(const PointStore& store, const std::vector<WorkItem>& items) {
  std::vector<WorkItem> missing;
  std::set<std::string> seen;
  for (const WorkItem& item : items) {
    if (seen.insert(item.id).second && !store.Read(item.id)) missing.push_back(item);
  }
  return missing;
}

Status PrintMetrics() {
  for (const Metric& metric : Metrics()) fmt::print("{:<28} {}\n", metric.name, metric.meaning);
  return OkStatus();
}

// Evaluates the missing points. Returns, by ID, why a point is not there.
Result<std::map<std::string, std::string>> EvaluateMissing(const Options& options,
                                                           const CommonOptions& common,
                                                           const EvaluatorOptions& evaluator,
                                                           const PointStore& store,
                                                           const std::vector<WorkItem>& missing) {
  StudyProgress progress(kTool, common);
  const auto show = [&](size_t done) { progress.Show("points", done, missing.size()); };
  ASSIGN_OR_RETURN(const Engine engine, ParseEngine(options.on));
  if (engine.kind != Engine::Kind::kLocal) {
    JobsOptions jobs;
    if (options.jobs > 0) jobs.jobs = options.jobs;
    jobs.progress = show;
    Result<std::map<std::string, std::string>> failures =
        RunJobs(engine, {evaluator, options.out, !options.no_pages, missing}, jobs);
    progress.End();
    return failures;
  }
  LocalOptions local;
  const int wanted = options.jobs > 0 ? options.jobs : engine.processes;
  local.jobs = std::min(JobsOr(wanted), std::max(1, static_cast<int>(missing.size())));
  local.progress = show;
  const Result<LocalResult> result =
      EvaluateLocally(evaluator, store, missing, !options.no_pages, local);
  progress.End();
  RETURN_IF_ERROR(result);
  if (!missing.empty()) Report(kTool, common, SharedText(result->shared));
  return result->failures;
}

Status Run(const Options& options, const CommonOptions& common) {
  if (!options.job.empty()) return RunJob(options.job);
  if (!options.metrics.empty() && options.metrics.front() == "help") return PrintMetrics();
  ASSIGN_OR_RETURN(const Sweep sweep, SweepOf(options));
  const size_t all = CountBeforeConstraints(sweep.space);
  if (all > kMostPoints || (all > kMostPointsUnasked && !options.yes)) {
    return Error(fmt::format(
        "{} points: {}", all == SIZE_MAX ? "too many" : std::to_string(all),
        all > kMostPoints ? "leave values out, or search instead" : "if you mean that, add --yes"));
  }
  ASSIGN_OR_RETURN(const std::vector<SpacePoint> points, PointsOf(sweep.space));
  ASSIGN_OR_RETURN(const Generated readable, FirstReadable(sweep, points));
  ReportNotes(kTool, common, sweep.evaluator.model.path, readable);
  if (common.check) {
    Report(kTool, common,
           fmt::format("{} of {} before the constraints", Plural(points.size(), "point"), all));
    return OkStatus();
  }
  if (options.out.empty()) return MissingOption("-o STUDY");
  RETURN_IF_ERROR(CheckCanWrite(options.out + "/" + kTableName));
  ASSIGN_OR_RETURN(const RunLock lock, ClaimStudy(kTool, common, options.out));

  ASSIGN_OR_RETURN(PointKeys keys, PointKeys::Make(sweep.evaluator));
  const PointStore store(options.out);
  store.RemoveUnfinished();
  std::vector<WorkItem> items;
  for (const SpacePoint& point : points) {
    std::vector<std::string> assignments = AllOf(sweep, point);
    std::string id = keys.KeyOf(assignments);
    items.push_back({std::move(id), std::move(assignments)});
  }
  const std::vector<WorkItem> missing = MissingOf(store, items);
  if (missing.size() < items.size()) {
    Report(kTool, common,
           fmt::format("{} of {} points are known from an earlier call",
                       items.size() - missing.size(), items.size()));
  }
  ASSIGN_OR_RETURN(const auto failures,
                   EvaluateMissing(options, common, sweep.evaluator, store, missing));

  SweepTable table = TableOf(sweep);
  table.pages = !options.no_pages;
  for (size_t i = 0; i < items.size(); ++i) {
    SweepRow row{items[i].id, {}, {}};
    for (size_t axis = 0; axis < table.axes.size(); ++axis) {
      row.values.push_back(sweep.space.axes[axis].values[points[i][axis]]);
    }
    const std::optional<PointRecord> record = store.Read(items[i].id);
    if (!record) continue;  // its process died, which is said below
    row.record = *record;
    table.rows.push_back(std::move(row));
  }
  RETURN_IF_ERROR(WriteFileAtomically(options.out + "/" + kTableName, CsvOf(table)));
  RETURN_IF_ERROR(WriteFileAtomically(options.out + "/" + kPageName, SweepPageOf(table)));
  fmt::print("{}", TextOf(table, options.show));
  Report(kTool, common, fmt::format("{0}: {1}, {2}", options.out, kTableName, kPageName));
  if (failures.empty()) {
    const Location place = {options.out + "/" + kTableName, 0, 0};
    const std::vector<std::string> lacking = MissingMetrics(table);
    if (!lacking.empty()) return Error(Join(lacking, "; "), place);
    if (!Ranked(table).empty()) return OkStatus();
    return Error("no point could be simulated; the first one: " + table.rows.front().record.reason,
                 place);
  }
  const auto& [id, how] = *failures.begin();
  return Error(fmt::format("{} not in the table, the first is {}: {}; the same command tries them "
                           "again",
                           failures.size() == 1 ? std::string("a point is")
                                                : fmt::format("{} points are", failures.size()),
                           id, how),
               {options.out, 0, 0});
}

std::string Subject(const Options& options) { return options.model; }

}  // namespace

std::unique_ptr<Command> MakeSweepCommand() {
  return MakeCommand<Options>(kTool, Declare, Run, Subject);
}

}  // namespace drydock
