// deepspeed, python -m deepspeed.launcher.runner: https://www.deepspeed.ai/getting-started, with
// the options of DeepSpeed 0.5 to 0.18.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <sstream>

#include "capture/launch/host_list.h"
#include "capture/launch/job_steps.h"
#include "capture/launch/launchers.h"
#include "capture/launch/options.h"
#include "capture/launch/python_command.h"
#include "core/base/files.h"
#include "core/base/plural.h"

namespace drydock::capture {
namespace {

OptionTable Options() {
  OptionTable table;
  table.launcher = "deepspeed";
  table.dash_values = false;
  table.options = {
      {"--hostfile|-H"},
      {"--include|-i"},
      {"--exclude|-e"},
      {"--num_nodes"},
      {"--num_gpus|--num_accelerators"},
      {"--launcher"},
      {"--module", 0},
      {"--no_python", 0},
      {"--no_local_rank", 0},
      {"--no_ssh", 0},
      {"--force_multi", 0},
      {"--elastic_training", 0},
      {"--autotuning"},
      // Nothing of the following changes what a rank does.
      {"--min_elastic_nodes"},
      {"--max_elastic_nodes"},
      {"--master_port"},
      {"--master_addr"},
      {"--node_rank"},
      {"--launcher_args"},
      {"--no_ssh_check", 0},
      {"--save_pid", 0},
      {"--enable_each_rank_log"},
      {"--comment"},
      {"--account"},
      {"--bind_cores_to_rank", 0},
      {"--bind_core_list"},
      {"--ssh_port"},
      {"--venv_script"},
      {"--detect_nvlink_pairs", 0},
      {"--help|-h", 0},
  };
  return table;
}

struct Pool {
  std::vector<std::pair<std::string, std::vector<int>>> hosts;  // names and slots
};

std::vector<int> Slots(int count) {
  std::vector<int> slots(static_cast<size_t>(count));
  for (int slot = 0; slot < count; ++slot) slots[static_cast<size_t>(slot)] = slot;
  return slots;
}

// "worker-0@worker-1:0,2": hosts, and the slots of each; no slots: all of the host.
Result<std::map<std::string, std::vector<int>>> ReadFilter(const std::string& option,
                                                           const std::string& text) {
  std::map<std::string, std::vector<int>> filter;
  std::istringstream items(text);
  for (std::string item; std::getline(items, item, '@');) {
    const size_t colon = item.find(':');
    std::vector<int>& slots = filter[item.substr(0, colon)];
    if (colon == std::string::npos) continue;
    std::istringstream numbers(item.substr(colon + 1));
    for (std::string number; std::getline(numbers, number, ',');) {
      int slot = 0;
      const auto [end, failed] =
          std::from_chars(number.data(), number.data() + number.size(), slot);
      if (failed != std::errc() || end != number.data() + number.size() || slot < 0) {
        return Error(fmt::format("deepspeed: {} '{}': '{}' is not the number of a GPU", option,
                                 text, number));
      }
      slots.push_back(slot);
    }
  }
  return filter;
}

// Keeps what --include names, or leaves out what --exclude names.
Status Filter(const std::string& option, const std::string& text, Pool* pool) {
  ASSIGN_OR_RETURN(const auto filter, ReadFilter(option, text));
  for (const auto& named : filter) {
    const std::string& name = named.first;
    const auto host = std::find_if(pool->hosts.begin(), pool->hosts.end(),
                                   [&](const auto& known) { return known.first == name; });
    if (host == pool->hosts.end()) {
      return Error(
          fmt::format("deepspeed: {} names host '{}', which no hostfile has; its first is "
                      "'{}'",
                      option, name, pool->hosts.front().first));
    }
    for (const int slot : named.second) {
      if (std::find(host->second.begin(), host->second.end(), slot) == host->second.end()) {
        return Error(fmt::format("deepspeed: {}: host '{}' has no GPU {}", option, name, slot));
      }
    }
  }
  const bool include = option == "--include";
  for (auto& [name, slots] : pool->hosts) {
    const auto named = filter.find(name);
    if (named == filter.end()) {
      if (include) slots.clear();
    } else if (include) {
      if (!named->second.empty()) slots = named->second;
    } else if (named->second.empty()) {
      slots.clear();
    } else {
      std::erase_if(slots, [&](int slot) {
        return std::find(named->second.begin(), named->second.end(), slot) != named->second.end();
      });
    }
  }
  std::erase_if(pool->hosts, [](const auto& host) { return host.second.empty(); });
  if (pool->hosts.empty()) return Error(fmt::format("deepspeed: {} leaves no GPU", option));
  return OkStatus();
}

Result<Pool> HostsOf(const ParsedOptions& options, const Call& call, const ClusterSize& cluster) {
  constexpr const char* kDefaultHostFile = "/job/hostfile";
  Pool pool;
  int asked = 0;
  if (options.Has("--num_nodes") && options.Value("--num_nodes") != "-1") {
    ASSIGN_OR_RETURN(
        asked, PositiveNumber("deepspeed: --num_nodes", options.Value("--num_nodes"), kMaxHosts));
  }
  // Scripts write `--hostfile /dev/null` for a run on one host.
  const std::string file =
      options.Has("--hostfile") ? options.Value("--hostfile") : std::string(kDefaultHostFile);
  const bool has_file = options.Has("--hostfile") ? file != "/dev/null" : FileExists(file);
  if (has_file) {
    const Result<std::vector<ListedHost>> hosts = ReadHostFile(file, call.folder);
    if (!hosts.ok()) {
      return Error(
          fmt::format("deepspeed: {}; without the file, write --num_nodes N --num_gpus N "
                      "in place of --hostfile",
                      hosts.error().ToString()));
    }
    for (const ListedHost& host : *hosts) {
      pool.hosts.emplace_back(host.name,
                              Slots(host.slots == 0 ? cluster.gpus_per_host : host.slots));
    }
  } else if (const std::string named = options.Value("--include");
             !named.empty() && !named.starts_with("localhost")) {
    // Hosts of a list that is not on this machine.
    ASSIGN_OR_RETURN(const auto filter, ReadFilter("--include", named));
    for (const auto& host : filter) {
      pool.hosts.emplace_back(host.first, Slots(cluster.gpus_per_host));
    }
  } else if (asked > 1) {
    for (const std::string& name : JobHostNames(asked)) {
      pool.hosts.emplace_back(name, Slots(cluster.gpus_per_host));
    }
  } else {
    pool.hosts.emplace_back("localhost", Slots(cluster.gpus_per_host));
  }
  if (asked > static_cast<int>(pool.hosts.size())) {
    return Error(fmt::format("deepspeed: --num_nodes {}, but {} names {}", asked, file,
                             Plural(pool.hosts.size(), "host")));
  }
  const bool chooses = options.Has("--include") || options.Has("--exclude");
  const bool counts = asked > 0 || options.Has("--num_gpus");
  if (chooses && counts) {
    return Error(
        "deepspeed: --include and --exclude cannot be given with --num_nodes or "
        "--num_gpus");
  }
  const std::string visible = ValueOf(call.environment, "CUDA_VISIBLE_DEVICES");
  if (options.Has("--include")) {
    RETURN_IF_ERROR(Filter("--include", options.Value("--include"), &pool));
  } else if (options.Has("--exclude")) {
    RETURN_IF_ERROR(Filter("--exclude", options.Value("--exclude"), &pool));
  } else if (!has_file && !counts && !visible.empty()) {
    RETURN_IF_ERROR(Filter("--include", "localhost:" + visible, &pool));
  }
  if (asked > 0) pool.hosts.resize(static_cast<size_t>(asked));
  if (options.Has("--num_gpus") && options.Value("--num_gpus") != "-1") {
    ASSIGN_OR_RETURN(const int gpus, PositiveNumber("deepspeed: --num_gpus",
                                                    options.Value("--num_gpus"), kMaxGpus));
    for (auto& host : pool.hosts) host.second = Slots(gpus);
  }
  for (const auto& [name, slots] : pool.hosts) {
    if (slots.size() == pool.hosts.front().second.size()) continue;
    return Error(
        fmt::format("deepspeed: host '{}' has {} and host '{}' {}; a capture needs the "
                    "same number on each",
                    pool.hosts.front().first, Plural(pool.hosts.front().second.size(), "rank"),
                    name, slots.size()));
  }
  return pool;
}

// Variables that ranks on several hosts get from the file .deepspeed_env, "NAME=VALUE" by line, of
// the user's home and of the folder of the launch.
Status ReadVariablesFile(Launch* launch) {
  std::string name = ValueOf(launch->environment, "DS_ENV_FILE");
  if (name.empty()) name = ".deepspeed_env";
  for (const std::string& folder : {ValueOf(launch->environment, "HOME"), launch->folder}) {
    const std::string file = folder + "/" + name;
    if (folder.empty() || !FileExists(file)) continue;
    ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
    std::istringstream lines(text);
    int number = 0;
    for (std::string line; std::getline(lines, line);) {
      ++number;
      const size_t equals = line.find('=');
      if (equals == std::string::npos || equals == 0) {
        return Error("deepspeed reads NAME=VALUE here", {file, number, 0}, line);
      }
      Set(&launch->environment, line.substr(0, equals), line.substr(equals + 1));
    }
  }
  return OkStatus();
}

}  // namespace

Result<Launch> ReadDeepSpeed(const LauncherWords& words, const ClusterSize& cluster) {
  const Call& call = words.call;
  ASSIGN_OR_RETURN(const ParsedOptions options,
                   ParseOptions(Options(), call.words, words.arguments));
  if (options.Has("--help")) return Error("deepspeed: --help starts no program");
  if (options.Has("--autotuning")) {
    return Error("deepspeed: --autotuning starts many programs; leave it out to capture one");
  }
  if (options.rest >= call.words.size()) {
    return Error("deepspeed: it names no program to start" + SuspectedValue(options.given));
  }
  ASSIGN_OR_RETURN(const Pool pool, HostsOf(options, call, cluster));
  Launch launch;
  launch.launcher = "deepspeed";
  launch.folder = call.folder;
  launch.environment = call.environment;
  launch.hosts = static_cast<int>(pool.hosts.size());
  launch.ranks_per_host = static_cast<int>(pool.hosts.front().second.size());
  const std::string& program = call.words[options.rest];
  if (options.Has("--no_python")) {
    if (!IsPython(program)) {
      return Error(fmt::format(
          "deepspeed: --no_python starts '{}' for each rank, which is not Python; write the "
          "command of Python that it starts, behind the launcher",
          program));
    }
  } else {
    launch.command = {words.python, "-u"};
    if (options.Has("--module")) launch.command.push_back("-m");
  }
  launch.command.push_back(program);
  // Several hosts are reached through pdsh, or through a launcher of jobs that tells ranks by
  // variables.
  const bool several =
      (launch.hosts > 1 || options.Has("--force_multi")) && !options.Has("--no_ssh");
  std::string by = options.Has("--launcher") ? options.Value("--launcher") : "pdsh";
  std::transform(by.begin(), by.end(), by.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (several && by != "pdsh") {
    const bool slurm = by == "slurm";
    if (!slurm && by != "openmpi" && by != "mpich" && by != "impi" && by != "mvapich") {
      return Error(
          fmt::format("deepspeed: --launcher {} is not known; it is pdsh, slurm, openmpi, "
                      "mpich, impi or mvapich",
                      by));
    }
    SetStepVariables({slurm ? "srun" : "mpirun", launch.hosts, launch.ranks_per_host, 0, 0},
                     &launch);
  } else {
    if (!options.Has("--no_local_rank") && !options.Has("--elastic_training")) {
      launch.rank_words.push_back(
          {launch.command.size(), "--local_rank=", RankNumber::kLocalRank, ""});
      launch.command.push_back("--local_rank=0");
    }
    std::string visible;
    for (const int slot : pool.hosts.front().second) visible += fmt::format(",{}", slot);
    Set(&launch.environment, "CUDA_VISIBLE_DEVICES", visible.substr(1));
    Set(&launch.environment, "CROSS_RANK", "0");
    launch.rank_variables.emplace_back("CROSS_RANK", RankNumber::kHost);
    Set(&launch.environment, "CROSS_SIZE", std::to_string(launch.hosts));
    Set(&launch.environment, "LOCAL_SIZE", std::to_string(launch.ranks_per_host));
  }
  launch.command.insert(launch.command.end(),
                        call.words.begin() + static_cast<std::ptrdiff_t>(options.rest) + 1,
                        call.words.end());
  if (several) RETURN_IF_ERROR(ReadVariablesFile(&launch));
  return launch;
}

}  // namespace drydock::capture
