#include "drydock/run/run_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <iterator>
#include <optional>

#include "core/base/spelling.h"

namespace drydock {
namespace {

using Words = std::vector<std::string>;

const Words kNetworks = {"analytical", "fluid", "packet", "auto"};
const Words kFolds = {"off", "exact", "relaxed", "auto"};

bool IsNumber(const std::string& text, int most) {
  if (text.empty() || text.size() > 4 || text[0] == '0') return false;
  const bool digits =
      std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  return digits && std::stoi(text) <= most;
}

// "5 ms": digits and points, a space or none, a unit.
bool IsTime(const std::string& text) {
  const size_t number = text.find_first_not_of("0123456789.");
  if (number == 0 || number == std::string::npos) return false;
  const std::string unit = text.substr(number + (text[number] == ' ' ? 1 : 0));
  return !unit.empty() &&
         std::all_of(unit.begin(), unit.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

// SECTION.KEY=VALUE with something in each place but the last.
bool IsAssignment(const std::string& text, bool with_section) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) return false;
  const size_t dot = text.find('.');
  return !with_section || (dot != std::string::npos && dot > 0 && dot + 1 < equals);
}

Status CheckChoice(const std::string& what, const std::string& value, const Words& choices) {
  if (std::find(choices.begin(), choices.end(), value) != choices.end()) return OkStatus();
  return Error(fmt::format("no {0} is called '{1}'{2}; the {0}s are {3}", what, value,
                           DidYouMean(value, choices), Join(choices, " ")));
}

Status Exclude(const std::string& a, const std::string& b) {
  return Error(fmt::format("{} and {} exclude each other", a, b));
}

Status ChooseStages(RunOptions* to, const std::string& option, const std::string& name) {
  if (!to->range_option.empty() && to->range_option != option) return Exclude("--only", "--from");
  RETURN_IF_ERROR(CheckChoice("stage", name, Stages()));
  to->range_option = option;
  to->first_stage =
      static_cast<int>(std::find(Stages().begin(), Stages().end(), name) - Stages().begin());
  if (option == "--only") to->last_stage = to->first_stage;
  return OkStatus();
}

struct Option {
  const char* names;  // "--out", "-v,--verbose"
  const char* value;  // "DIR"; "" for a flag
  const char* help;
  std::function<Status(RunOptions*, const std::string&)> take;
};

// An option whose value is checked elsewhere.
std::function<Status(RunOptions*, const std::string&)> Into(std::string RunOptions::*field) {
  return [field](RunOptions* to, const std::string& value) -> Status {
    to->*field = value;
    return OkStatus();
  };
}

const std::vector<Option>& Options() {
  static const std::vector<Option> options = {
      {"--out", "DIR", "run directory (default: runs/MODEL-CLUSTER)",
       [](RunOptions* to, const std::string& value) -> Status {
         if (value.empty()) return Error("--out needs a directory");
         to->out = value;
         return OkStatus();
       }},
      {"--planner", "NAME",
       "who plans collectives: nccl (default), or custom:FILE, an algorithm of MSCCL",
       Into(&RunOptions::planner)},
      {"--network", "KIND",
       "analytical, fluid, packet, or auto, which picks fluid or packet (default: packet)",
       [](RunOptions* to, const std::string& value) -> Status {
         to->network = value;
         return CheckChoice("network", value, kNetworks);
       }},
      {"--threads", "N",
       "threads of the network simulation, or auto (default); the result does not depend on it",
       [](RunOptions* to, const std::string& value) -> Status {
         to->threads = value;
         if (value == "auto" || IsNumber(value, 1024)) return OkStatus();
         return Error(
             fmt::format("--threads needs a number from 1 to 1024 or auto, not '{}'", value));
       }},
      {"--processes", "N",
       "processes of the network simulation, started by mpirun (default: 1); the result does not "
       "depend on it",
       [](RunOptions* to, const std::string& value) -> Status {
         to->processes = value;
         if (IsNumber(value, 1024)) return OkStatus();
         return Error(fmt::format("--processes needs a number from 1 to 1024, not '{}'", value));
       }},
      {"--hostfile", "FILE", "machines for these processes, one per line, such as \"name slots=2\"",
       Into(&RunOptions::hostfile)},
      {"--until", "TIME",
       "stops the replay at this simulated time (\"5 ms\"); the results cover the time until then",
       [](RunOptions* to, const std::string& value) -> Status {
         if (!IsTime(value)) {
           return Error(fmt::format("--until needs a time like '5 ms', not '{}'", value));
         }
         to->until = value;
         return to->iterations.empty() ? OkStatus() : Exclude("--until", "--iterations");
       }},
      {"--iterations", "N",
       "replays N iterations one after another; the results are those of the last",
       [](RunOptions* to, const std::string& value) -> Status {
         if (!IsNumber(value, 1000)) {
           return Error(fmt::format("--iterations needs a number from 1 to 1000, not '{}'", value));
         }
         to->iterations = value;
         return to->until.empty() ? OkStatus() : Exclude("--until", "--iterations");
       }},
      {"--fold", "KIND",
       "replays one host of each equivalence class: off, exact, relaxed or auto (default)",
       [](RunOptions* to, const std::string& value) -> Status {
         to->fold = value;
         return CheckChoice("fold", value, kFolds);
       }},
      {"--set", "SECTION.KEY=VALUE", "replaces an entry of either file; may be repeated",
       [](RunOptions* to, const std::string& value) -> Status {
         if (!IsAssignment(value, true)) {
           return Error(fmt::format("--set needs SECTION.KEY=VALUE, not '{}'", value));
         }
         to->workload_args.insert(to->workload_args.end(), {"--set", value});
         return OkStatus();
       }},
      {"--sequence", "N", "tokens of a sample, as --set model.sequence=N",
       [](RunOptions* to, const std::string& value) -> Status {
         if (!IsNumber(value, 1 << 30)) {
           return Error(fmt::format("--sequence needs a number of tokens, not '{}'", value));
         }
         to->workload_args.insert(to->workload_args.end(), {"--sequence", value});
         return OkStatus();
       }},
      {"--require-fit", "", "a run that needs more memory than its GPUs have is an error",
       [](RunOptions* to, const std::string&) -> Status {
         to->workload_args.push_back("--require-fit");
         return OkStatus();
       }},
      {"--megatron-args", "SCRIPT",
       "in place of MODEL, a Megatron-LM launch script, a file of its arguments or a recipe",
       [](RunOptions* to, const std::string& value) -> Status {
         to->megatron_args = value;
         to->workload_args.insert(to->workload_args.end(), {"--megatron-args", value});
         return OkStatus();
       }},
      {"--variable", "NAME=VALUE",
       "sets a variable that SCRIPT does not assign itself; may be repeated",
       [](RunOptions* to, const std::string& value) -> Status {
         if (!IsAssignment(value, false)) {
           return Error(fmt::format("--variable needs NAME=VALUE, not '{}'", value));
         }
         to->workload_args.insert(to->workload_args.end(), {"--variable", value});
         return OkStatus();
       }},
      {"--strict", "",
       "anything not modeled in SCRIPT, a config.json or a file of overlaps is an error",
       [](RunOptions* to, const std::string&) -> Status {
         to->workload_args.push_back("--strict");
         return OkStatus();
       }},
      {"--ignore-unknown", "",
       "unknown arguments of SCRIPT and variables without a value are left out, not errors",
       [](RunOptions* to, const std::string&) -> Status {
         to->workload_args.push_back("--ignore-unknown");
         return OkStatus();
       }},
      {"--workload", "RUN",
       "in place of MODEL, a run directory whose workload another tool has written, such as\n"
       "drydock-capture or nccl-record; with CLUSTER, the workload has to be of that cluster",
       Into(&RunOptions::workload)},
      {"--gpu-profile", "FILE",
       "measured kernel times, used in preference to the shipped ones; may be repeated",
       [](RunOptions* to, const std::string& value) -> Status {
         to->gpu_profiles.push_back(value);
         return OkStatus();
       }},
      {"--only", "STAGE", "runs only this stage",
       [](RunOptions* to, const std::string& value) { return ChooseStages(to, "--only", value); }},
      {"--from", "STAGE", "runs this stage and all later ones",
       [](RunOptions* to, const std::string& value) { return ChooseStages(to, "--from", value); }},
      {"--dry-run", "", "prints the command of each stage and runs none",
       [](RunOptions* to, const std::string&) -> Status {
         to->dry_run = true;
         return OkStatus();
       }},
      {"-v,--verbose", "", "the stages print more",
       [](RunOptions* to, const std::string&) -> Status {
         to->common_args.push_back("-v");
         return OkStatus();
       }},
      {"-q,--quiet", "", "the stages print only errors",
       [](RunOptions* to, const std::string&) -> Status {
         to->quiet = true;
         to->common_args.push_back("-q");
         return OkStatus();
       }},
      {"--help", "", "this text",
       [](RunOptions* to, const std::string&) -> Status {
         to->help = true;
         return OkStatus();
       }},
  };
  return options;
}

// "-v,--verbose" -> "-v", "--verbose".
Words NamesOf(const Option& option) {
  const std::string names = option.names;
  const size_t comma = names.find(',');
  if (comma == std::string::npos) return {names};
  return {names.substr(0, comma), names.substr(comma + 1)};
}

const Option* Find(const std::string& name) {
  for (const Option& option : Options()) {
    const Words names = NamesOf(option);
    if (std::find(names.begin(), names.end(), name) != names.end()) return &option;
  }
  return nullptr;
}

Status CheckWorkload(const RunOptions& options) {
  if (!options.megatron_args.empty()) return Exclude("--workload", "--megatron-args");
  if (!options.out.empty() && options.out != options.workload) {
    return Error("--workload names the run directory; leave --out out");
  }
  if (options.inputs.size() > 1) {
    return Error(fmt::format("--workload takes the place of '{}'; give a cluster or nothing",
                             options.inputs[0]));
  }
  for (const std::string& word : options.workload_args) {
    if (word == "--variable" || word == "--strict" || word == "--ignore-unknown" ||
        word == "--sequence" || word == "--require-fit") {
      return Error(word + " is for a model, not for --workload");
    }
  }
  if (!options.workload_args.empty() && options.inputs.empty()) {
    return Error(fmt::format("{} says something of the cluster; give the cluster with --workload",
                             options.workload_args[0]));
  }
  if (!options.range_option.empty() && options.first_stage == 0) {
    return Error(
        fmt::format("--workload takes the place of the stage workload-gen; leave '{} workload-gen' "
                    "out",
                    options.range_option));
  }
  return OkStatus();
}

Status CheckInputs(const RunOptions& options) {
  const Words& inputs = options.inputs;
  if (inputs.size() > 2) {
    return Error(
        fmt::format("one model and one cluster are needed; unexpected argument '{}'", inputs[2]));
  }
  if (inputs.empty() && (options.first_stage == 0 || options.out.empty())) {
    return Error("a model and a cluster are needed: MODEL CLUSTER");
  }
  if (inputs.size() == 1 && options.megatron_args.empty() && options.workload.empty()) {
    return Error(fmt::format("a cluster is needed after the model '{}'", inputs[0]));
  }
  return OkStatus();
}

Status CheckCombination(const RunOptions& options) {
  const std::string network = options.NetworkOrDefault();
  const bool one_process = network == "analytical" || network == "fluid";
  if (!options.hostfile.empty() && options.processes.empty()) {
    return Error("--hostfile needs --processes, the number of processes");
  }
  if (!options.processes.empty() && options.processes != "1" && one_process) {
    return Error(fmt::format("--processes: the {} network runs in one process", network));
  }
  if (options.fold == "exact" && network != "analytical") {
    return Error(fmt::format("--fold exact needs --network analytical, not {}", network));
  }
  if (options.fold == "relaxed" && !one_process) {
    return Error(
        fmt::format("--fold relaxed needs --network analytical or fluid, not {}", network));
  }
  return OkStatus();
}

std::string OptionLines() {
  constexpr size_t kIndent = 27;
  std::string text;
  for (const Option& option : Options()) {
    std::string names = fmt::format("  {} {}", Join(NamesOf(option), ", "), option.value);
    names = names.substr(0, names.find_last_not_of(' ') + 1);
    std::string help = option.help;
    for (size_t at = help.find('\n'); at != std::string::npos; at = help.find('\n', at + 1)) {
      help.insert(at + 1, std::string(kIndent, ' '));
    }
    text += fmt::format("{:<{}} {}\n", names, kIndent - 1, help);
  }
  return text;
}

}  // namespace

const std::vector<std::string>& Stages() {
  static const Words stages = {"workload-gen", "simccl", "compute-sim", "exec-engine", "report"};
  return stages;
}

std::vector<std::string> RunOptionNames(bool with_value_only) {
  Words names;
  for (const Option& option : Options()) {
    if (with_value_only && *option.value == 0) continue;
    names.push_back(NamesOf(option).back());
  }
  return names;
}

Result<RunOptions> ParseRunOptions(const std::vector<std::string>& words) {
  RunOptions options;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--") {
      options.inputs.insert(options.inputs.end(),
                            words.begin() + static_cast<std::ptrdiff_t>(i) + 1, words.end());
      break;
    }
    if (word.size() < 2 || word[0] != '-') {
      options.inputs.push_back(word);
      continue;
    }
    const size_t equals = word.find('=');
    const std::string name = word == "-h" ? "--help" : word.substr(0, equals);
    const Option* option = Find(name);
    if (option == nullptr) {
      return Error(fmt::format("unknown option '{}'{}", name,
                               DidYouMean(name, RunOptionNames(/*with_value_only=*/false))));
    }
    std::string value;
    if (*option->value == 0) {
      if (equals != std::string::npos) return Error(fmt::format("{} takes no value", name));
    } else if (equals != std::string::npos) {
      value = word.substr(equals + 1);
    } else if (i + 1 < words.size()) {
      value = words[++i];
    } else {
      return Error(fmt::format("{} needs a value", name));
    }
    RETURN_IF_ERROR(option->take(&options, value));
    if (options.help) return options;
  }
  if (!options.megatron_args.empty() && options.inputs.size() > 1) {
    return Error(fmt::format("--megatron-args takes the place of '{}'; give one of them",
                             options.inputs[0]));
  }
  if (!options.workload.empty()) {
    RETURN_IF_ERROR(CheckWorkload(options));
    options.out = options.workload;
    options.first_stage = std::max(options.first_stage, 1);
  }
  RETURN_IF_ERROR(CheckInputs(options));
  RETURN_IF_ERROR(CheckCombination(options));
  return options;
}

std::string RunHelp(const std::string& name) {
  return fmt::format(
      R"({0}: predicts the iteration time of a training run on a cluster that need not exist

Usage:
  {1} MODEL CLUSTER [options]
  {1} --megatron-args SCRIPT CLUSTER [options]
  {1} --workload RUN [CLUSTER] [options]

MODEL is a model.yaml or a config.json, CLUSTER a cluster.topo; or each is the name of one that
ships with Drydock: 'drydock models' and 'drydock clusters' list them.

What to run:
{2}  Stages: {3}
  A stage whose inputs did not change since it last ran is skipped. With --only or --from a later
  stage, MODEL and CLUSTER may be left out if --out names the run directory.

Files:
  The run directory fills up in numeric order: 1-workload/, 2-flows.pb, 3-times.pb, 4-timeline.pb,
  then summary.json, summary.txt, trace.json.gz and report.html (docs/reference/run-directory.md).

Exit status:
  0 complete answer, 1 bad input, 2 wrong usage, 3 internal error, 130 interrupted

Example:
  {1} gpt-22b dgx-a100-80g-1
)",
      name.starts_with("./") ? name.substr(2) : name, name, OptionLines(), Join(Stages(), " "));
}

}  // namespace drydock
