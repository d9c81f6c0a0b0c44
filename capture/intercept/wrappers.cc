#include "capture/intercept/wrappers.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "capture/launch/options.h"
#include "core/base/files.h"
#include "core/base/spelling.h"

namespace drydock::capture {
namespace {

struct Wrapper {
  std::vector<std::string> names;
  std::vector<std::string> commands;  // its first word that starts a command; none: any word does
  std::vector<std::string> valued;    // options with a value
  std::vector<std::string> flags;     // options without
  size_t skipped = 0;                 // words between the options and the command: an image
  // Its command runs in a container or on another machine; a remote one is read by a shell there.
  enum class Place { kHere, kContainer, kRemote } place = Place::kHere;
};

const std::vector<Wrapper>& Wrappers() {
  static const std::vector<Wrapper> kWrappers = {
      {{"numactl"},
       {},
       {"--interleave|-i", "--membind|-m", "--cpunodebind|-N|--cpubind|-c", "--physcpubind|-C",
        "--preferred|-p", "--preferred-many|-P", "--weighted-interleave|-w"},
       {"--localalloc|-l", "--all|-a", "--balancing|-b", "--show|-s", "--hardware|-H"}},
      {{"nsys"},
       {"profile", "launch"},
       {"--accelerator-trace",
        "--auto-report-name",
        "--backtrace|-b",
        "--capture-range|-c",
        "--capture-range-end",
        "--clock-frequency-changes",
        "--command-file",
        "--cpu-cluster-events",
        "--cpu-core-events",
        "--cpu-core-metrics",
        "--cpuctxsw",
        "--cuda-event-trace",
        "--cuda-flush-interval",
        "--cuda-graph-trace",
        "--cuda-memory-usage",
        "--cuda-trace-scope",
        "--cuda-um-cpu-page-faults",
        "--cuda-um-gpu-page-faults",
        "--cudabacktrace",
        "--delay|-y",
        "--duration|-d",
        "--duration-frames",
        "--dx-force-declare-adapter-removal-support",
        "--enable",
        "--env-var|-e",
        "--event-sample",
        "--event-sampling-interval",
        "--export",
        "--flush-on-cudaprofilerstop",
        "--force-overwrite|-f",
        "--ftrace",
        "--ftrace-keep-user-config",
        "--gpu-metrics-device",
        "--gpu-metrics-devices",
        "--gpu-metrics-frequency",
        "--gpu-metrics-set",
        "--gpuctxsw",
        "--hotkey-capture",
        "--ib-net-info-devices",
        "--ib-switch-metrics-devices",
        "--inherit-environment|-n",
        "--injection-use-detours",
        "--kill",
        "--mpi-impl",
        "--nic-metrics",
        "--nvtx-capture|-p",
        "--nvtx-domain-exclude",
        "--nvtx-domain-include",
        "--opengl-gpu-workload",
        "--os-events",
        "--osrt-backtrace-depth",
        "--osrt-backtrace-stack-size",
        "--osrt-backtrace-threshold",
        "--osrt-file-access",
        "--osrt-threshold",
        "--output|-o",
        "--process-scope",
        "--python-backtrace",
        "--python-functions-trace",
        "--python-nvtx-annotations",
        "--python-sampling",
        "--python-sampling-frequency",
        "--pytorch",
        "--qnx-kernel-events",
        "--resolve-symbols",
        "--retain-etw-files",
        "--run-as",
        "--sample|-s",
        "--samples-per-backtrace",
        "--sampling-frequency",
        "--sampling-period",
        "--sampling-trigger",
        "--session",
        "--session-new",
        "--show-output|-w",
        "--soc-metrics",
        "--start-frame-index",
        "--stats",
        "--stop-on-exit|-x",
        "--storage-metrics",
        "--syscall",
        "--trace|-t",
        "--trace-fork-before-exec",
        "--vsync",
        "--vulkan-gpu-workload",
        "--wait",
        "--wddm-trace",
        "--xhv-trace",
        "--isr",
        "--dask",
        "--discard-memory-trace",
        "--trace-mpi"},
       {"--start-later|-Y"}},
      {{"ncu"},
       {},
       {"--set",
        "--export|-o",
        "--kernel-name|-k",
        "--kernel-id",
        "--kernel-name-base",
        "--launch-count|-c",
        "--launch-skip|-s",
        "--launch-skip-before-match",
        "--target-processes",
        "--nvtx-include",
        "--nvtx-exclude",
        "--metrics",
        "--section",
        "--replay-mode",
        "--profile-from-start",
        "--clock-control",
        "--cache-control",
        "--devices",
        "--log-file",
        "--graph-profiling",
        "--range-filter",
        "--import-source"},
       {"--nvtx", "--force-overwrite|-f", "--csv", "--quiet", "--verbose", "--call-stack"}},
      {{"uv"},
       {"run"},
       {"--with",           "--with-editable", "--with-requirements", "--python|-p",
        "--extra",          "--group",         "--no-group",          "--only-group",
        "--project",        "--directory",     "--env-file",          "--package",
        "--index",          "--index-url|-i",  "--extra-index-url",   "--find-links|-f",
        "--cache-dir",      "--config-file",   "--link-mode",         "--no-extra",
        "--python-platform"},
       {"--all-extras",
        "--no-dev",
        "--dev",
        "--only-dev",
        "--all-groups",
        "--no-default-groups",
        "--no-sync",
        "--frozen",
        "--locked",
        "--isolated",
        "--active",
        "--no-project",
        "--exact",
        "--no-editable",
        "--no-env-file",
        "--quiet|-q",
        "--verbose|-v",
        "--offline",
        "--no-cache|-n",
        "--refresh",
        "--all-packages",
        "--no-config",
        "--no-progress",
        "--managed-python",
        "--no-managed-python",
        "--module|-m",
        "--script|-s"}},
      {{"poetry", "pipenv", "pdm", "pixi"},
       {"run"},
       {"--environment|-e", "--manifest-path", "--project|-p", "--venv"},
       {"--frozen", "--locked", "--quiet|-q", "--verbose|-v", "--clean-env", "--no-install"}},
      {{"conda", "mamba", "micromamba"},
       {"run"},
       {"--name|-n", "--prefix|-p", "--cwd", "--attach|-a"},
       {"--no-capture-output|--live-stream", "--verbose|-v", "--debug-wrapper-scripts", "--dev"}},
      {{"singularity", "apptainer"},
       {"exec"},
       {"--bind|-B",       "--mount",      "--env",        "--env-file", "--pwd",          "--cwd",
        // -W is where its scratch folders are, and not where the command starts.
        "--home|-H",       "-W|--workdir", "--overlay|-o", "--network",  "--network-args", "--dns",
        "--hostname",      "--add-caps",   "--drop-caps",  "--security", "--scratch|-S",   "--app",
        "--apply-cgroups", "--fusemount",  "--gpus",       "--pem-path"},
       {"--nv",          "--nvccli",         "--rocm",          "--cleanenv|-e",
        "--contain|-c",  "--containall|-C",  "--no-home",       "--no-mount",
        "--writable|-w", "--writable-tmpfs", "--fakeroot|-f",   "--userns|-u",
        "--ipc|-i",      "--pid|-p",         "--net|-n",        "--uts",
        "--no-privs",    "--keep-privs",     "--compat",        "--no-init",
        "--no-umask",    "--no-eval",        "--disable-cache", "--sharens",
        "--unsquash",    "--no-https",       "--nohttps",       "--vm",
        "--silent|-s",   "--quiet|-q",       "--debug|-d"},
       1,
       Wrapper::Place::kContainer},
      {{"docker", "podman", "nvidia-docker"},
       {"run"},
       {"--add-host",   "--cap-add",       "--cap-drop",    "--cgroupns",    "--cidfile",
        "--cpu-shares", "--cpus",          "--cpuset-cpus", "--cpuset-mems", "--device",
        "--dns",        "--entrypoint",    "--env-file",    "--env|-e",      "--expose",
        "--gpus",       "--group-add",     "--hostname|-h", "--ipc",         "--label|-l",
        "--log-driver", "--log-opt",       "--memory-swap", "--memory|-m",   "--mount",
        "--name",       "--network|--net", "--pid",         "--pids-limit",  "--platform",
        "--publish|-p", "--pull",          "--restart",     "--runtime",     "--security-opt",
        "--shm-size",   "--stop-timeout",  "--sysctl",      "--tmpfs",       "--ulimit",
        "--user|-u",    "--userns",        "--uts",         "--volume|-v",   "--volumes-from",
        "--workdir|-w"},
       {"--detach|-d", "--init", "--interactive|-i", "--no-healthcheck", "--privileged",
        "--publish-all|-P", "--quiet|-q", "--read-only", "--rm", "--tty|-t"},
       1,
       Wrapper::Place::kContainer},
      {{"enroot"},
       {"start"},
       {"--conf|-c", "--env|-e", "--mount|-m", "--rc"},
       {"--root|-r", "--rw|-w"},
       1,
       Wrapper::Place::kContainer},
      {{"sudo"},
       {},
       {"--user|-u", "--group|-g", "--prompt|-p", "--close-from|-C", "--chdir|-D", "--chroot|-R"},
       {"--preserve-env|-E", "--set-home|-H", "--non-interactive|-n", "--stdin|-S", "--login|-i",
        "--shell|-s", "--background|-b", "--preserve-groups|-P", "--askpass|-A", "--list|-l",
        "--validate|-v", "--reset-timestamp|-k", "--remove-timestamp|-K"}},
      {{"ssh"},
       {},
       {"-B", "-b", "-c", "-D", "-E", "-e", "-F", "-I", "-i", "-J", "-L",
        "-l", "-m", "-O", "-o", "-P", "-p", "-Q", "-R", "-S", "-W", "-w"},
       {"-4", "-6", "-A", "-a", "-C", "-f", "-G", "-g", "-K", "-k", "-M", "-N",
        "-n", "-q", "-s", "-T", "-t", "-V", "-v", "-X", "-x", "-Y", "-y"},
       1,
       Wrapper::Place::kRemote},
      {{"pdsh"},
       {},
       {"-w", "-x", "-g", "-X", "-f", "-l", "-t", "-u", "-R", "-M", "-C", "-o", "-k"},
       {"-a", "-A", "-b", "-d", "-h", "-L", "-N", "-q", "-S", "-V", "-v"},
       0,
       Wrapper::Place::kRemote},
      {{"clush"},
       {},
       {"--worker|-R", "--group|-g", "--fanout|-f", "--user|-l", "--options|-o",
        "--command_timeout|-u", "--connect_timeout|-t", "--hostfile|--machinefile", "--topology",
        "-w", "-x", "-X"},
       {"--all|-a", "--nostdin|-n", "--dshbak|-b", "-B", "-L", "-N", "--regroup|-r", "--gather",
        "--maxrc|-S", "--quiet|-q", "--verbose|-v", "--debug|-d", "--diff", "--outfile"},
       0,
       Wrapper::Place::kRemote},
      {{"shifter"},
       {},
       {"--image|-i", "--module|-m", "--volume|-V", "--env|-e", "--env-file", "--entrypoint",
        "--workdir|-w", "--user"},
       {"--clearenv", "--verbose|-v"},
       0,
       Wrapper::Place::kContainer},
  };
  return kWrappers;
}

OptionTable TableOf(const Wrapper& wrapper, const std::string& name) {
  OptionTable table;
  table.launcher = name;
  for (const std::string& option : wrapper.valued) table.options.push_back({option});
  for (const std::string& flag : wrapper.flags) table.options.push_back({flag, 0});
  return table;
}

// The variables that --env sets: "A=1", and "A=1,B=2" of apptainer.
void SetVariables(const ParsedOptions& options, const std::string& name, Variables* variables) {
  const bool list = name == "singularity" || name == "apptainer";
  for (const GivenOption& option : options.given) {
    if (option.name != "--env") continue;
    std::istringstream items(option.values.back());
    for (std::string item; std::getline(items, item, list ? ',' : '\0');) {
      const size_t equals = item.find('=');
      if (equals == std::string::npos) continue;  // has the value that it has here
      Set(variables, item.substr(0, equals), item.substr(equals + 1));
    }
  }
}

// The folder that the options name; "" if they name none. That of a container counts only if this
// machine has it, too.
std::string FolderOf(const ParsedOptions& options, bool elsewhere) {
  std::string folder;
  for (const char* name : {"--directory", "--chdir", "--cwd", "--pwd", "--workdir"}) {
    if (options.Has(name)) folder = options.Value(name);
  }
  std::error_code failed;
  return elsewhere && !std::filesystem::is_directory(folder, failed) ? "" : folder;
}

// "sudo A=1 command".
void TakeAssignments(InsideCommand* command) {
  std::vector<std::string>& words = command->words;
  while (!words.empty() && words.front().find('=') != std::string::npos) {
    const size_t equals = words.front().find('=');
    Set(&command->environment, words.front().substr(0, equals), words.front().substr(equals + 1));
    words.erase(words.begin());
  }
}

// The words that the wrapper's options leave, as they start a command.
std::vector<std::string> WordsInside(const Wrapper& wrapper, const std::string& name,
                                     const ParsedOptions& options, std::vector<std::string> words) {
  if (words.empty()) return words;
  if (wrapper.place == Wrapper::Place::kRemote) {
    std::string line = Join(words, " ");
    // pdsh writes who a host is into its command.
    for (const auto& [mark, value] : {std::pair{"%n", "0"}, {"%h", "node0"}}) {
      for (size_t at = line.find(mark); name == "pdsh" && at != std::string::npos;) {
        line.replace(at, strlen(mark), value);
        at = line.find(mark, at);
      }
    }
    return {"bash", "-c", line};
  }
  const std::string entry = options.Value("--entrypoint");
  if (!entry.empty()) words.insert(words.begin(), entry);
  if (name != "uv") return words;
  // uv run starts files of Python and modules itself.
  if (options.Has("--module")) {
    words.insert(words.begin(), {"python", "-m"});
  } else if (words.front().ends_with(".py")) {
    words.insert(words.begin(), "python");
  }
  return words;
}

}  // namespace

Result<std::optional<InsideCommand>> CommandInside(const std::vector<std::string>& words) {
  const std::string name = BaseName(words.front());
  for (const Wrapper& wrapper : Wrappers()) {
    if (std::find(wrapper.names.begin(), wrapper.names.end(), name) == wrapper.names.end()) {
      continue;
    }
    InsideCommand command;
    command.elsewhere = wrapper.place != Wrapper::Place::kHere;
    const OptionTable table = TableOf(wrapper, name);
    size_t begin = 1;
    if (!wrapper.commands.empty()) {
      // Options may stand in front of the command's word as well.
      ASSIGN_OR_RETURN(const ParsedOptions before, ParseOptions(table, words, 1));
      const bool runs =
          before.rest < words.size() && std::find(wrapper.commands.begin(), wrapper.commands.end(),
                                                  words[before.rest]) != wrapper.commands.end();
      if (!runs) return std::optional(command);
      begin = before.rest + 1;
    }
    ASSIGN_OR_RETURN(const ParsedOptions options, ParseOptions(table, words, begin));
    if (options.Has("--show") || options.Has("--hardware")) return std::optional(command);
    const size_t first = std::min(options.rest + wrapper.skipped, words.size());
    command.words = WordsInside(wrapper, name, options,
                                {words.begin() + static_cast<std::ptrdiff_t>(first), words.end()});
    SetVariables(options, name, &command.environment);
    command.folder = FolderOf(options, command.elsewhere);
    if (options.Has("--env-file")) command.ignored = "--env-file " + options.Value("--env-file");
    if (name == "sudo") TakeAssignments(&command);
    return std::optional(command);
  }
  return std::optional<InsideCommand>();
}

}  // namespace drydock::capture
