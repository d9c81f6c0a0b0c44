// drydock-goodput RUN --failures FILE --days 54: what failures leave of some days of training.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <optional>
#include <utility>

#include "core/base/files.h"
#include "core/base/plural.h"
#include "core/base/writable.h"
#include "core/rundir/run_lock.h"
#include "drydock/shipped/shipped_files.h"
#include "study/commands.h"
#include "study/goodput/failure_file.h"
#include "study/goodput/goodput.h"
#include "study/goodput/goodput_output.h"
#include "study/goodput/question.h"
#include "study/goodput/run_facts.h"
#include "study/goodput/time_units.h"
#include "study/study_run.h"

namespace drydock {
namespace {

const ToolInfo kTool = {
    "drydock-goodput",
    "Predicts what failures, checkpoints and restarts leave of some days of training.",
    "reads a run directory and a failures file (docs/reference/failures-file.md); writes "
    "RUN/goodput.json",
    "drydock-goodput runs/llama-3-70b-dgx-h100-8 --failures llama-3 --days 54", false};

struct Options {
  std::string run, failures, policy = "restart", shrunk, writing, interval, checkpoint_size, out;
  std::vector<std::string> set;
  double days = 30;
  int spares = 0, jobs = 0;
  size_t samples = 200;
  uint64_t seed = 0;
  bool asynchronous = false;
};

constexpr double kMostDays = 3660;

Status CheckTogether(const Options& options) {
  if (options.policy == "spares" && options.spares == 0) {
    return MissingOption("--spares N, the number of spare hosts");
  }
  if (options.policy != "spares" && options.spares > 0) {
    return Error("--spares has an effect with --policy spares only");
  }
  if (options.policy == "shrink" && options.shrunk.empty()) {
    return MissingOption("--shrunk RUN, a prediction on fewer hosts");
  }
  if (options.policy != "shrink" && !options.shrunk.empty()) {
    return Error("--shrunk has an effect with --policy shrink only");
  }
  if (!options.writing.empty() && !options.asynchronous) {
    return Error("--writing has an effect with --asynchronous only");
  }
  if (!options.interval.empty()) RETURN_IF_ERROR(ParseDuration(options.interval));
  if (!options.checkpoint_size.empty()) RETURN_IF_ERROR(ParseBytes(options.checkpoint_size));
  return OkStatus();
}

void Declare(CLI::App* app, Options* options, const CommonOptions&) {
  app->add_option("run", options->run, "A run directory, as 'drydock run' writes it")
      ->type_name("RUN")
      ->required();
  app->add_option("--failures", options->failures,
                  "A failures file, or the name of a shipped one: how often parts fail, and how "
                  "long recovery takes")
      ->type_name("FILE")
      ->required();
  app->add_option("--days", options->days, "How long")
      ->check(CLI::Range(0.01, kMostDays))
      ->capture_default_str()
      ->type_name("DAYS");
  app->add_option("--policy", options->policy,
                  "What follows the loss of hosts: restart waits for their repair, spares puts "
                  "others in their place, shrink goes on without them until they are back")
      ->check(CLI::IsMember(PolicyNames()))
      ->capture_default_str()
      ->type_name("POLICY");
  app->add_option("--spares", options->spares, "Spare hosts, for --policy spares")
      ->check(CLI::Range(1, 1'000'000))
      ->type_name("N");
  app->add_option("--shrunk", options->shrunk,
                  "For --policy shrink, a run of the same model on fewer hosts")
      ->type_name("RUN");
  app->add_flag("--asynchronous", options->asynchronous,
                "Checkpoints are copied to the hosts' memory, and written while training goes on");
  app->add_option("--writing", options->writing,
                  "With --asynchronous, the run with what the writing leaves of the network")
      ->type_name("RUN");
  app->add_option("--interval", options->interval,
                  "Time of training between checkpoints, such as '30 min' (default: the one that "
                  "leaves most)")
      ->type_name("TIME");
  app->add_option("--checkpoint-size", options->checkpoint_size,
                  "Size of a checkpoint, such as '5.7 TB' (default: by the memory of the run)")
      ->type_name("SIZE");
  app->add_option("--set", options->set,
                  "section.key=value: replaces a value of the failures file. May be repeated")
      ->allow_extra_args(false);
  app->add_option("--samples", options->samples, "Courses of these days to simulate")
      ->check(CLI::Range(10, 100'000))
      ->capture_default_str()
      ->type_name("N");
  app->add_option("--seed", options->seed, "Another seed is another sample")
      ->capture_default_str()
      ->type_name("N");
  app->add_option("--jobs", options->jobs, "Threads (default: one a core); no figure changes")
      ->check(CLI::Range(1, 1024))
      ->type_name("N");
  app->add_option("-o,--out", options->out, "File to write (default: RUN/goodput.json)")
      ->type_name("FILE");
  CheckOptions(app, [options]() -> Status { return CheckTogether(*options); });
}

Question QuestionOf(const Options& options) {
  Question question;
  question.days = options.days;
  for (size_t i = 0; i < PolicyNames().size(); ++i) {
    if (PolicyNames()[i] == options.policy) question.policy = static_cast<Policy>(i);
  }
  question.spares = options.spares;
  question.asynchronous = options.asynchronous;
  if (!options.checkpoint_size.empty()) {
    question.checkpoint = *ParseBytes(options.checkpoint_size);
  }
  return question;
}

Result<std::optional<RunFacts>> ReadIfGiven(const std::string& run) {
  if (run.empty()) return std::optional<RunFacts>();
  ASSIGN_OR_RETURN(RunFacts facts, ReadRunFacts(run));
  return std::optional(std::move(facts));
}

Error Impossible(const MonthPlan& plan) {
  return Error(
      fmt::format("a checkpoint takes {:.4g} s to write, longer than the {:.4g} s of training "
                  "between two; write them less often, or to faster storage",
                  plan.full.write, static_cast<double>(plan.full.steps) * plan.full.step));
}

// Sets the steps between checkpoints: those of --interval, or the best.
Result<std::vector<IntervalTrial>> SetSteps(const Options& options, const Sampling& sampling,
                                            MonthPlan* plan) {
  if (options.interval.empty()) {
    std::vector<IntervalTrial> trials = ChooseInterval(sampling, plan);
    if (!trials.empty()) return trials;
    SetInterval(static_cast<int64_t>(plan->horizon / plan->full.step), plan);
    return Impossible(*plan);
  }
  const double seconds = *ParseDuration(options.interval);
  const double steps = std::max(1.0, std::round(seconds / plan->full.step));
  if (steps * plan->full.step > plan->horizon) {
    return Error(
        fmt::format("--interval {}: longer than the {:g} days", options.interval, options.days));
  }
  if (!SetInterval(static_cast<int64_t>(steps), plan)) return Impossible(*plan);
  return std::vector<IntervalTrial>();
}

Status Run(const Options& options, const CommonOptions& common) {
  RunLock lock;
  if (options.out.empty()) {
    ASSIGN_OR_RETURN(lock, LockRun(kTool, common, options.run));
  }
  GoodputResult result;
  result.failures_file = FileMeant(ShippedKind::kFailures, options.failures);
  ASSIGN_OR_RETURN(const FailureModel model, LoadFailures(result.failures_file, options.set));
  ASSIGN_OR_RETURN(const RunFacts run, ReadRunFacts(options.run));
  ASSIGN_OR_RETURN(const std::optional<RunFacts> shrunk, ReadIfGiven(options.shrunk));
  ASSIGN_OR_RETURN(const std::optional<RunFacts> writing, ReadIfGiven(options.writing));
  result.run = &run;
  result.model = &model;
  result.question = QuestionOf(options);
  result.set = options.set;
  ASSIGN_OR_RETURN(result.posed, Pose(result.question, run, shrunk ? &*shrunk : nullptr,
                                      writing ? &*writing : nullptr, model));
  if (common.check) {
    Report(kTool, common,
           fmt::format("{:.4g} failures expected in {:g} days",
                       SumOf(result.posed.plan.hazards) * result.posed.plan.horizon, options.days));
    return OkStatus();
  }
  const std::string out = options.out.empty() ? options.run + "/goodput.json" : options.out;
  RETURN_IF_ERROR(CheckCanWrite(out));

  result.sampling.samples = options.samples;
  result.sampling.seed = options.seed;
  result.sampling.threads = JobsOr(options.jobs);
  StudyProgress progress(kTool, common);
  result.sampling.progress = [&](size_t done) { progress.Show("samples", done, options.samples); };
  Result<std::vector<IntervalTrial>> trials =
      SetSteps(options, result.sampling, &result.posed.plan);
  if (trials.ok()) {
    result.trials = *std::move(trials);
    result.goodput = Simulate(result.posed.plan, result.sampling);
  }
  progress.End();
  RETURN_IF_ERROR(trials);
  result.cost = CostOf(run.workload.topology, run.step, run.workload.totals.tokens);
  RETURN_IF_ERROR(WriteFileAtomically(out, GoodputJson(result)));
  fmt::print("{}", GoodputText(result));
  Report(kTool, common, out);
  return OkStatus();
}

}  // namespace

std::unique_ptr<Command> MakeGoodputCommand() {
  return MakeCommand<Options>(kTool, Declare, Run,
                              [](const Options& options) { return options.run; });
}

}  // namespace drydock
