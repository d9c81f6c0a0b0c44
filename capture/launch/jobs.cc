#include "capture/launch/jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <string_view>

#include "capture/launch/host_list.h"
#include "capture/launch/options.h"
#include "capture/launch/slurm_options.h"
#include "core/base/spelling.h"

namespace drydock::capture {
namespace {

// A line #SBATCH of a script.
struct JobLine {
  int number = 0;
  std::string text;
  std::vector<std::string> options;
};

// Words, with quotes; text behind " #" is a comment.
std::vector<std::string> WordsOfJobLine(const std::string& text) {
  std::vector<std::string> words;
  std::string word;
  char quote = 0;
  bool open = false;
  for (const char c : text + " ") {
    if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else {
        word += c;
      }
    } else if (c == '"' || c == '\'') {
      quote = c;
      open = true;
    } else if (c == ' ' || c == '\t' || c == '\r') {
      if (open || !word.empty()) words.push_back(word);
      word.clear();
      open = false;
    } else if (c == '#' && word.empty() && !open) {
      break;
    } else {
      word += c;
    }
  }
  return words;
}

std::vector<JobLine> JobLines(const std::string& text) {
  constexpr std::string_view kMark = "#SBATCH";
  std::vector<JobLine> found;
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.starts_with(kMark)) {
      found.push_back({number, line, WordsOfJobLine(line.substr(kMark.size()))});
      continue;
    }
    // The first command ends the list.
    const size_t first = line.find_first_not_of(" \t\r");
    if (first != std::string::npos && line[first] != '#') break;
  }
  return found;
}

}  // namespace

Result<Job> ReadJob(const std::vector<std::string>& options, const ClusterSize& cluster) {
  ASSIGN_OR_RETURN(const ParsedOptions parsed, ParseOptions(SlurmOptions("sbatch"), options, 0));
  ASSIGN_OR_RETURN(SlurmCounts counts, CountsOf(parsed, "sbatch"));
  const auto text = [](int number) { return std::to_string(number); };
  if (!counts.nodes && counts.tasks && counts.per_node) {
    counts.nodes = (*counts.tasks + *counts.per_node - 1) / *counts.per_node;
  }
  if (!counts.nodes && counts.gpus) {
    const int most = counts.gpus_per_node.value_or(cluster.gpus_per_host);
    counts.nodes = (*counts.gpus + most - 1) / most;
  }
  if (!counts.nodes && counts.tasks) {
    counts.nodes = (*counts.tasks + cluster.gpus_per_host - 1) / cluster.gpus_per_host;
  }
  const int nodes = counts.nodes.value_or(1);
  const std::string names = Join(JobHostNames(nodes), ",");
  Variables variables = {
      {"SLURM_JOB_ID", "1"},
      {"SLURM_JOBID", "1"},
      {"SLURM_JOB_NAME",
       parsed.Has("--job-name") ? parsed.Value("--job-name") : std::string("capture")},
      {"SLURM_NNODES", text(nodes)},
      {"SLURM_JOB_NUM_NODES", text(nodes)},
      {"SLURM_JOB_NODELIST", names},
      {"SLURM_NODELIST", names},
      {"SLURM_NODEID", "0"},
      {"SLURM_PROCID", "0"},
      {"SLURM_LOCALID", "0"},
      {"SLURMD_NODENAME", "node0"},
      {"SLURM_JOB_PARTITION",
       parsed.Has("--partition") ? parsed.Value("--partition") : std::string("capture")}};
  if (counts.per_node) variables.emplace_back("SLURM_NTASKS_PER_NODE", text(*counts.per_node));
  if (counts.tasks || counts.per_node) {
    variables.emplace_back("SLURM_NTASKS",
                           text(counts.tasks ? *counts.tasks : nodes * *counts.per_node));
    variables.emplace_back("SLURM_NPROCS", variables.back().second);
  }
  if (parsed.Has("--cpus-per-task")) {
    variables.emplace_back("SLURM_CPUS_PER_TASK", parsed.Value("--cpus-per-task"));
  }
  const int gpus = counts.gpus_per_node.value_or(counts.gpus ? std::max(1, *counts.gpus / nodes)
                                                             : cluster.gpus_per_host);
  variables.emplace_back("SLURM_GPUS_ON_NODE", text(gpus));
  std::string numbers;
  for (int gpu = 0; gpu < gpus; ++gpu) numbers += fmt::format("{}{}", gpu > 0 ? "," : "", gpu);
  variables.emplace_back("SLURM_JOB_GPUS", numbers);
  if (parsed.Has("--gpus-per-node")) variables.emplace_back("SLURM_GPUS_PER_NODE", text(gpus));
  if (counts.gpus) variables.emplace_back("SLURM_GPUS", text(*counts.gpus));
  if (parsed.Has("--array")) {
    const std::string& first = parsed.Value("--array");
    variables.emplace_back("SLURM_ARRAY_JOB_ID", "1");
    variables.emplace_back("SLURM_ARRAY_TASK_ID", first.substr(0, first.find_first_of("-,:%")));
  }
  return Job{std::move(variables), parsed.Value("--chdir")};
}

std::vector<std::string> JobOptionsOfScript(const std::string& text) {
  std::vector<std::string> options;
  for (const JobLine& line : JobLines(text)) {
    options.insert(options.end(), line.options.begin(), line.options.end());
  }
  return options;
}

Result<Job> ReadJobOfScript(const std::string& path, const std::string& text,
                            const std::vector<std::string>& options, const ClusterSize& cluster) {
  std::vector<std::string> all;
  for (const JobLine& line : JobLines(text)) {
    const Result<Job> alone = ReadJob(line.options, cluster);
    if (!alone.ok()) return Error(alone.error().message(), {path, line.number, 0}, line.text);
    all.insert(all.end(), line.options.begin(), line.options.end());
  }
  all.insert(all.end(), options.begin(), options.end());
  return ReadJob(all, cluster);
}

std::string OtherJobLine(const std::string& text) {
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    for (const char* mark : {"#PBS ", "#BSUB ", "#$ -"}) {
      if (line.starts_with(mark)) return fmt::format("{}: {}", number, line);
    }
  }
  return "";
}

Result<std::string> WrappedBySbatch(const std::vector<std::string>& words) {
  ASSIGN_OR_RETURN(const ParsedOptions options, ParseOptions(SlurmOptions("sbatch"), words, 1));
  return options.Value("--wrap");
}

Result<size_t> ScriptOfSbatch(const std::vector<std::string>& words) {
  ASSIGN_OR_RETURN(const ParsedOptions options, ParseOptions(SlurmOptions("sbatch"), words, 1));
  return options.rest;
}

}  // namespace drydock::capture
