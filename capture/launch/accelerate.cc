// accelerate launch: https://huggingface.co/docs/accelerate/package_reference/cli, with the options
// of Accelerate 0.20 to 1.15. It tells the program by variables what a command line or a file of
// its own says; accelerate_settings.h has those.
#include <fmt/format.h>

#include <algorithm>

#include "capture/launch/accelerate_settings.h"
#include "capture/launch/launchers.h"
#include "capture/launch/options.h"
#include "core/base/files.h"
#include "core/base/yaml.h"

namespace drydock::capture {
namespace {

// Chooses between the ways of training as accelerate does: the command line, else the file.
Status ChooseWay(const std::string& type, AccelerateSettings* settings) {
  static constexpr const char* kWays[] = {"multi_gpu", "use_deepspeed", "use_fsdp",
                                          "use_megatron_lm"};
  for (const char* way : {"tpu", "cpu", "use_cpu", "use_xpu"}) {
    if (!settings->IsTrue(way)) continue;
    return Error(
        fmt::format("accelerate: '{}' trains without GPUs of NVIDIA; a capture needs them", way));
  }
  if (std::any_of(std::begin(kWays), std::end(kWays),
                  [&](const char* way) { return settings->IsTrue(way); })) {
    return OkStatus();
  }
  const std::pair<const char*, const char*> types[] = {{"MULTI_GPU", "multi_gpu"},
                                                       {"DEEPSPEED", "use_deepspeed"},
                                                       {"FSDP", "use_fsdp"},
                                                       {"MEGATRON_LM", "use_megatron_lm"}};
  for (const auto& [name, way] : types) {
    if (type == name) settings->Give(way, "True");
  }
  if (type.empty() || type == "NO" ||
      std::any_of(std::begin(types), std::end(types),
                  [&](const auto& known) { return type == known.first; })) {
    return OkStatus();
  }
  return Error(fmt::format(
      "accelerate: distributed_type {} is not that of GPUs; it is MULTI_GPU, FSDP, DEEPSPEED, "
      "MEGATRON_LM or NO",
      type));
}

// Returns the file of settings that accelerate would read; "" if there is none.
std::string FileOf(const ParsedOptions& options, const Call& call) {
  const std::string given = options.Value("--config_file");
  if (!given.empty()) return given.starts_with("/") ? given : call.folder + "/" + given;
  std::string home = ValueOf(call.environment, "HF_HOME");
  if (home.empty()) {
    const std::string cache = ValueOf(call.environment, "XDG_CACHE_HOME");
    home = (cache.empty() ? ValueOf(call.environment, "HOME") + "/.cache" : cache) + "/huggingface";
  }
  for (const char* name : {"default_config.yaml", "default_config.json"}) {
    if (FileExists(home + "/accelerate/" + name)) return home + "/accelerate/" + name;
  }
  return "";
}

}  // namespace

Result<Launch> ReadAccelerate(const LauncherWords& words, const ClusterSize& cluster) {
  const Call& call = words.call;
  ASSIGN_OR_RETURN(const ParsedOptions options,
                   ParseOptions(AccelerateOptions(), call.words, words.arguments));
  if (options.Has("--help")) return Error("accelerate: --help starts no program");
  if (options.rest >= call.words.size()) {
    return Error("accelerate: it names no program to start" + SuspectedValue(options.given));
  }
  AccelerateSettings settings;
  for (const GivenOption& option : options.given) {
    settings.Give(option.name.substr(2), option.values.empty() ? "True" : option.values.back());
  }
  const std::string file = FileOf(options, call);
  std::string type;
  if (!file.empty()) {
    ASSIGN_OR_RETURN(type, settings.ReadFile(file));
  } else if (!settings.Get("num_processes")) {
    settings.Give("num_processes", std::to_string(cluster.gpus_per_host));
  }
  RETURN_IF_ERROR(ChooseWay(type, &settings));
  ASSIGN_OR_RETURN(
      const int processes,
      PositiveNumber("accelerate: --num_processes", settings.Get("num_processes").value_or("1")));
  ASSIGN_OR_RETURN(const int hosts,
                   PositiveNumber("accelerate: --num_machines",
                                  settings.Get("num_machines").value_or("1"), kMaxHosts));
  if (file.empty() && processes > 1 && !settings.IsTrue("use_deepspeed") &&
      !settings.IsTrue("use_fsdp") && !settings.IsTrue("use_megatron_lm")) {
    settings.Give("multi_gpu", "True");  // it does so where it finds several GPUs
  }
  const bool several = settings.IsTrue("multi_gpu") || settings.IsTrue("use_deepspeed") ||
                       settings.IsTrue("use_fsdp") || settings.IsTrue("use_megatron_lm");
  Launch launch;
  launch.launcher = "accelerate";
  launch.folder = call.folder;
  launch.environment = call.environment;
  if (several) {
    if (processes % hosts != 0) {
      return Error(fmt::format(
          "accelerate: {} processes do not divide evenly over {} machines; --num_processes counts "
          "those of all machines",
          processes, hosts));
    }
    launch.hosts = hosts;
    launch.ranks_per_host = processes / hosts;
  }
  const std::string& program = call.words[options.rest];
  if (settings.IsTrue("no_python")) {
    return Error(fmt::format(
        "accelerate: --no_python starts '{}' for each rank, which is not Python; write the command "
        "of Python that it starts, behind the launcher",
        program));
  }
  launch.command = {words.python};
  if (several) launch.command.push_back("-u");
  if (settings.IsTrue("module")) launch.command.push_back("-m");
  launch.command.push_back(program);
  launch.command.insert(launch.command.end(),
                        call.words.begin() + static_cast<std::ptrdiff_t>(options.rest) + 1,
                        call.words.end());
  settings.SetVariables(several, &launch);
  return launch;
}

}  // namespace drydock::capture
