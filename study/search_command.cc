// drydock-search MODEL CLUSTER -o STUDY: finds the layouts that train a model fastest on a cluster.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>
#include <utility>

#include "core/base/files.h"
#include "core/base/plural.h"
#include "core/base/spelling.h"
#include "core/base/writable.h"
#include "drydock/shipped/shipped_files.h"
#include "study/axes/axis.h"
#include "study/commands.h"
#include "study/points/point_store.h"
#include "study/search/layout_arguments.h"
#include "study/search/layouts.h"
#include "study/search/search.h"
#include "study/shared_notes.h"
#include "study/study_run.h"
#include "study/table/csv.h"
#include "workload-gen/job_text.h"

namespace drydock {
namespace {

const ToolInfo kTool = {
    "drydock-search",
    "Finds the layouts that train a model fastest on a cluster, of all that are possible and fit "
    "the memory.",
    "reads a model and a cluster; writes STUDY/search.csv, STUDY/best/N.yaml, the model with its "
    "N-th layout, STUDY/best/N.args (DeepSpeed: N.json), the layout as the framework takes it, and "
    "STUDY/points/ID/, a folder for each layout that was replayed",
    "drydock-search llama-3-70b dgx-h100-8 -o searches/llama", false};

constexpr size_t kMostLayouts = 1'000'000;
constexpr const char* kTableName = "search.csv";
constexpr const char* kBatchKey = "training.global_batch";

struct Options {
  std::string model, cluster, out, network = "fluid";
  std::string megatron_arguments;
  std::vector<std::string> set, over, gpu_profiles;
  int64_t sequence = 0;
  size_t top = 5;
  double margin = 5;
  int jobs = 0;
  bool exhaustive = false, no_pages = false;
};

std::string KeyOfAssignment(const std::string& assignment) {
  return assignment.substr(0, assignment.find('='));
}

// The axes of --over. A key has one of --set and --over, once.
Result<std::vector<Axis>> AxesOf(const Options& options) {
  std::vector<Axis> axes;
  for (const std::string& text : options.over) {
    ASSIGN_OR_RETURN(Axis axis, ParseAxis(text));
    if (!IsTrainingOverride(axis.key + "=" + axis.values.front())) {
      return Error(
          fmt::format("--over {}: a search varies keys of the model; 'drydock sweep' "
                      "varies those of the cluster as well",
                      axis.key));
    }
    for (const Axis& other : axes) {
      if (other.key != axis.key) continue;
      return Error(fmt::format("--over {} is given twice; write its values in one list", axis.key));
    }
    for (const std::string& assignment : options.set) {
      if (KeyOfAssignment(assignment) != axis.key) continue;
      return Error(
          fmt::format("--set {} and --over {}: leave one of them out", assignment, axis.key));
    }
    axes.push_back(std::move(axis));
  }
  return axes;
}

void Declare(CLI::App* app, Options* options, const CommonOptions&) {
  app->add_option("model", options->model,
                  "A model.yaml, a config.json, or the name of a shipped model")
      ->type_name("MODEL");
  app->add_option("cluster", options->cluster, "A cluster.topo, or the name of a shipped cluster")
      ->type_name("CLUSTER");
  app->add_option("--megatron-args", options->megatron_arguments,
                  "In place of MODEL, a Megatron-LM launch script, a file of its arguments or a "
                  "recipe")
      ->type_name("SCRIPT");
  app->add_option("--set", options->set,
                  "section.key=value: replaces a value of either file; a key of the layout then "
                  "keeps this value. May be repeated")
      ->allow_extra_args(false);
  app->add_option("--over", options->over,
                  "The values that a key takes: of the layout in place of all, or of any other key "
                  "of the model. May be repeated")
      ->type_name("KEY=VALUES")
      ->allow_extra_args(false);
  app->add_option("--sequence", options->sequence, "Tokens of a sample, as --set model.sequence=N")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 24));
  app->add_option("--network", options->network,
                  "fluid replays what the analytical network finds best; analytical leaves it at "
                  "that")
      ->check(CLI::IsMember(EvaluatedNetworks()))
      ->capture_default_str()
      ->type_name("KIND");
  app->add_option("--top", options->top, "Layouts to find")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str()
      ->type_name("N");
  app->add_option("--margin", options->margin,
                  "Percent: fluid replays the layouts whose analytical time is at most this much "
                  "above that of the last of the N best")
      ->check(CLI::Range(0.0, 1000.0))
      ->capture_default_str()
      ->type_name("PERCENT");
  app->add_flag("--exhaustive", options->exhaustive,
                "Replay every layout that fits, also those whose lower bound is too slow");
  app->add_option("--gpu-profile", options->gpu_profiles,
                  "Measured kernel times (CSV), used before the shipped ones; may be repeated")
      ->type_name("FILE")
      ->allow_extra_args(false);
  app->add_flag("--no-pages", options->no_pages, "Leave out report.html of each point");
  app->add_option("--jobs", options->jobs,
                  "Layouts evaluated at the same time (default: one a core)")
      ->check(CLI::Range(1, 1024))
      ->type_name("N");
  app->add_option("-o,--out", options->out, "Directory of the study")->type_name("STUDY");
  CheckOptions(app, [options]() -> Status {
    if (options->sequence > 0) {
      options->set.push_back(fmt::format("model.sequence={}", options->sequence));
    }
    if (!options->megatron_arguments.empty()) {
      if (!options->cluster.empty()) {
        return Error(
            fmt::format("--megatron-args takes the place of {}; give one of them", options->model));
      }
      std::swap(options->model, options->cluster);
    } else if (options->model.empty()) {
      return MissingOption("MODEL CLUSTER");
    }
    if (options->cluster.empty()) return MissingOption("CLUSTER");
    RETURN_IF_ERROR(AxesOf(*options));
    RETURN_IF_ERROR(SplitOverrides(options->set));
    return OkStatus();
  });
}

// The model and the cluster as the layouts find them.
Result<Generated> LoadBase(const EvaluatorOptions& evaluator, const std::vector<std::string>& set) {
  ASSIGN_OR_RETURN(const Overrides overrides, SplitOverrides(set));
  Generated base;
  ASSIGN_OR_RETURN(base.job, LoadJob(evaluator.model, overrides.model, &base.notes));
  ASSIGN_OR_RETURN(base.cluster, LoadCluster(evaluator.cluster, overrides.cluster));
  return base;
}

// The layouts, each with the values of the axes: a product.
struct SearchSpace {
  std::vector<std::string> keys;
  std::vector<std::vector<std::string>> values;  // by candidate and key
};

Result<SearchSpace> SpaceOf(const Options& options, const Generated& base) {
  std::vector<std::string> kept;
  for (const std::string& assignment : options.set) kept.push_back(KeyOfAssignment(assignment));
  ASSIGN_OR_RETURN(const std::vector<Axis> axes, AxesOf(options));
  std::vector<Axis> given, others;  // keys of the layout, other keys
  for (const Axis& axis : axes) (IsLayoutKey(axis.key) ? given : others).push_back(axis);
  for (const Axis& axis : others) kept.push_back(axis.key);
  ASSIGN_OR_RETURN(LayoutSpace layouts, LayoutsOf(base.job, base.cluster.topology, kept, given));
  if (layouts.layouts.empty()) {
    return Error(
        fmt::format("no layout of {} on these {} GPUs has the values that --set and --over ask "
                    "for; leave one of them out",
                    base.job.model.name, base.cluster.topology.gpu_count()));
  }
  SearchSpace space;
  space.keys = std::move(layouts.keys);
  space.values = std::move(layouts.layouts);
  for (const Axis& axis : others) {
    space.keys.push_back(axis.key);
    if (space.values.size() * axis.values.size() > kMostLayouts) {
      return Error(fmt::format("{} layouts with {}: a search has at most {}; fix values with --set",
                               space.values.size() * axis.values.size(), axis.key, kMostLayouts));
    }
    std::vector<std::vector<std::string>> longer;
    for (const std::vector<std::string>& shorter : space.values) {
      for (const std::string& value : axis.values) {
        longer.push_back(shorter);
        longer.back().push_back(value);
      }
    }
    space.values = std::move(longer);
  }
  if (space.values.size() > kMostLayouts) {
    return Error(fmt::format("{} layouts: a search has at most {}; fix values with --set",
                             space.values.size(), kMostLayouts));
  }
  return space;
}

const char* StateText(Candidate::State state) {
  switch (state) {
    case Candidate::State::kRefused:
      return "refused";
    case Candidate::State::kUnfit:
      return "does not fit";
    case Candidate::State::kSlower:
      return "slower by its bound";
    case Candidate::State::kReplayed:
      return "replayed";
    case Candidate::State::kFailed:
      return "failed";
  }
  return "";
}

std::string SecondsText(const std::optional<Time>& time) {
  return time ? fmt::format("{:.7g}", time->seconds()) : "";
}

std::string CsvOf(const SearchSpace& space, const SearchResult& result, bool two_networks) {
  std::vector<std::string> heading = space.keys;
  for (const char* name : {"state", "reason", "memory_gb", "bound_s", "analytical_s"}) {
    heading.emplace_back(name);
  }
  if (two_networks) heading.emplace_back("fluid_s");
  heading.emplace_back("point");
  std::string text = CsvLine(heading);
  for (size_t i = 0; i < result.candidates.size(); ++i) {
    const Candidate& each = result.candidates[i];
    std::vector<std::string> row = space.values[i];
    row.emplace_back(StateText(each.state));
    row.push_back(each.reason);
    row.push_back(each.memory > 0 ? fmt::format("{:.7g}", each.memory / 1e9) : "");
    row.push_back(each.bound > Time() ? SecondsText(each.bound) : "");
    row.push_back(SecondsText(each.first));
    if (two_networks) row.push_back(SecondsText(each.second));
    row.push_back(each.second_id.empty() ? each.first_id : each.second_id);
    text += CsvLine(row);
  }
  return text;
}

// The best layouts, and what each gives up against the first.
std::string TextOf(const SearchSpace& space, const SearchResult& result, const PointStore& store) {
  std::vector<std::vector<std::string>> lines = {{"layout"}};
  for (const std::string& key : space.keys) lines[0].push_back(key.substr(key.find('.') + 1));
  for (const char* name : {"iteration_s", "slower", "mfu", "memory_gb", "exposed", "bubble"}) {
    lines[0].emplace_back(name);
  }
  std::optional<double> fastest;
  for (size_t rank = 0; rank < result.best.size(); ++rank) {
    const Candidate& each = result.candidates[result.best[rank]];
    std::vector<std::string>& line = lines.emplace_back();
    line.push_back(std::to_string(rank + 1));
    const std::vector<std::string>& values = space.values[result.best[rank]];
    line.insert(line.end(), values.begin(), values.end());
    const std::optional<PointRecord> record =
        store.Read(each.second_id.empty() ? each.first_id : each.second_id);
    const auto figure = [&](const char* name) {
      return record ? ValueOf(record->metrics, name) : std::nullopt;
    };
    const std::optional<double> seconds = figure("iteration_s");
    if (!fastest) fastest = seconds;
    line.push_back(seconds ? FigureText(*seconds) : "");
    line.push_back(seconds ? fmt::format("{:.1f} %", (*seconds / *fastest - 1) * 100) : "");
    const std::optional<double> mfu = figure("mfu"), memory = figure("memory_gb");
    line.push_back(mfu ? fmt::format("{:.1f} %", *mfu * 100) : "");
    line.push_back(memory ? FigureText(*memory) : "");
    for (const char* name : {"exposed_communication_share", "bubble_share"}) {
      const std::optional<double> share = figure(name);
      line.push_back(share ? fmt::format("{:.1f} %", *share * 100) : "");
    }
  }
  return AlignedText(lines);
}

std::string CountsText(const SearchResult& result) {
  size_t counts[5] = {};
  for (const Candidate& each : result.candidates) ++counts[static_cast<size_t>(each.state)];
  std::string text = fmt::format(
      "{}: {} are not possible, {} do not fit, {} are slower by their lower bound, {} replayed",
      Plural(result.candidates.size(), "layout"), counts[0], counts[1], counts[2], counts[3]);
  if (result.replayed_second > 0) {
    text += fmt::format(" over the analytical network, {} of them over the fluid network",
                        result.replayed_second);
  }
  if (counts[4] > 0) text += fmt::format(", {} failed", counts[4]);
  return text;
}

// A file of best/ that this tool writes.
bool IsOwned(std::string_view name) {
  return name.ends_with(".yaml") || name.ends_with(".args") || name.ends_with(".json");
}

// Writes the model with each of the best layouts, and the layout as the framework takes it.
Status WriteBest(const Options& options, const EvaluatorOptions& evaluator,
                 const SearchResult& result) {
  ASSIGN_OR_RETURN(StagedDirectory best, StagedDirectory::Create(options.out + "/best", IsOwned));
  for (size_t rank = 0; rank < result.best.size(); ++rank) {
    const Candidate& each = result.candidates[result.best[rank]];
    ASSIGN_OR_RETURN(const Overrides overrides, SplitOverrides(each.assignments));
    Generated run;
    ASSIGN_OR_RETURN(run.job, LoadJob(evaluator.model, overrides.model, &run.notes));
    ASSIGN_OR_RETURN(run.cluster, LoadCluster(evaluator.cluster, overrides.cluster));
    RETURN_IF_ERROR(Complete(&run));
    RETURN_IF_ERROR(best.Write(fmt::format("{}.yaml", rank + 1), JobText(run.job)));
    ASSIGN_OR_RETURN(const ParallelLayout layout, LayoutOf(run, LayoutHint::kNone));
    const LayoutArguments arguments = ArgumentsOf(run.job, layout);
    RETURN_IF_ERROR(best.Write(fmt::format("{}{}", rank + 1, arguments.suffix), arguments.text));
  }
  return best.Commit();
}

// A config.json says nothing of the batch, and each layout would get one of its own. All layouts
// have that of the file's, so that their times compare. Returns its value; "": the model states it.
std::string AssumedBatch(const Generated& base) {
  for (const AssumedKey& each : base.notes.assumed) {
    if (each.key == kBatchKey) return each.value;
  }
  return "";
}

// Every candidate has an answer. A process that died leaves none.
Status CheckAllAnswered(const Options& options, const SearchResult& result) {
  size_t failed = 0;
  const Candidate* first = nullptr;
  for (const Candidate& each : result.candidates) {
    if (each.state != Candidate::State::kFailed) continue;
    if (failed++ == 0) first = &each;
  }
  if (failed == 0) return OkStatus();
  return Error(fmt::format("{} without an answer, the first is {}: {}; the same command tries {} "
                           "again",
                           Plural(failed, "layout"), Join(first->assignments, " "), first->reason,
                           failed == 1 ? "it" : "them"),
               {options.out, 0, 0});
}

Status Run(const Options& given, const CommonOptions& common) {
  Options options = given;
  EvaluatorOptions evaluator;
  evaluator.model.path = options.megatron_arguments.empty()
                             ? FileMeant(ShippedKind::kModel, options.model)
                             : options.megatron_arguments;
  evaluator.model.megatron_arguments = !options.megatron_arguments.empty();
  evaluator.cluster = FileMeant(ShippedKind::kCluster, options.cluster);
  evaluator.gpu_profiles = options.gpu_profiles;
  ASSIGN_OR_RETURN(const Generated base, LoadBase(evaluator, options.set));
  ReportNotes(kTool, common, evaluator.model.path, base);
  if (const std::string batch = AssumedBatch(base); !batch.empty()) {
    options.set.push_back(fmt::format("{}={}", kBatchKey, batch));
    Report(kTool, common,
           fmt::format("all layouts have {} {}, as {} states none; --set replaces it", kBatchKey,
                       batch, BaseName(evaluator.model.path)));
  }
  ASSIGN_OR_RETURN(const SearchSpace space, SpaceOf(options, base));
  if (common.check) {
    Report(kTool, common,
           fmt::format("{} over {}", Plural(space.values.size(), "layout"), Join(space.keys)));
    return OkStatus();
  }
  if (options.out.empty()) return MissingOption("-o STUDY");
  RETURN_IF_ERROR(CheckCanWrite(options.out + "/" + kTableName));
  ASSIGN_OR_RETURN(const RunLock lock, ClaimStudy(kTool, common, options.out));
  const PointStore store(options.out);
  store.RemoveUnfinished();

  std::vector<std::vector<std::string>> layouts;
  for (const std::vector<std::string>& values : space.values) {
    std::vector<std::string>& all = layouts.emplace_back(options.set);
    for (size_t i = 0; i < values.size(); ++i) all.push_back(space.keys[i] + "=" + values[i]);
  }
  StudyProgress progress(kTool, common);
  SearchOptions search;
  search.top = options.top;
  search.margin = options.margin / 100;
  search.exhaustive = options.exhaustive;
  search.pages = !options.no_pages;
  search.jobs = JobsOr(options.jobs);
  search.progress = [&](const std::string& stage, size_t done, size_t of) {
    progress.Show(stage, done, of);
  };
  const std::string first = EvaluatedNetworks().front();
  const Result<SearchResult> result =
      Search(evaluator, first, options.network, store, std::move(layouts), search);
  progress.End();
  RETURN_IF_ERROR(result);
  RETURN_IF_ERROR(WriteFileAtomically(options.out + "/" + kTableName,
                                      CsvOf(space, *result, options.network != first)));
  RETURN_IF_ERROR(WriteBest(options, evaluator, *result));
  fmt::print("{}{}\n", TextOf(space, *result, store), CountsText(*result));
  Report(kTool, common, fmt::format("{}: {}, best/", options.out, kTableName));
  RETURN_IF_ERROR(CheckAllAnswered(options, *result));
  if (!result->best.empty()) return OkStatus();
  const auto& candidates = result->candidates;
  const auto near = std::min_element(
      candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
        const auto rank = [](const Candidate& each) {
          return each.state == Candidate::State::kUnfit ? each.memory : 1e300;
        };
        return rank(a) < rank(b);
      });
  return Error(fmt::format("no layout can be replayed; the nearest one: {} ({})",
                           Join(near->assignments, " "), near->reason));
}

std::string Subject(const Options& options) { return options.model; }

}  // namespace

std::unique_ptr<Command> MakeSearchCommand() {
  return MakeCommand<Options>(kTool, Declare, Run, Subject);
}

}  // namespace drydock
