#include "capture/intercept/host_answers.h"

#include <fmt/format.h>

#include <sstream>

#include "capture/launch/host_list.h"
#include "core/base/spelling.h"

namespace drydock::capture {
namespace {

std::vector<std::string> SplitAtCommas(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream words(text);
  for (std::string part; std::getline(words, part, ',');) {
    const size_t first = part.find_first_not_of(' ');
    parts.push_back(first == std::string::npos ? "" : part.substr(first));
  }
  return parts;
}

// One value of --query-gpu.
Result<std::string> ValueOfGpu(const std::string& field, int gpu, const ClusterSize& cluster) {
  if (field == "index") return std::to_string(gpu);
  if (field == "name" || field == "gpu_name") return cluster.gpu;
  if (field == "count") return std::to_string(cluster.gpus_per_host);
  if (field == "uuid" || field == "gpu_uuid")
    return fmt::format("GPU-00000000-0000-0000-0000-{:012}", gpu);
  if (field == "driver_version") return cluster.driver;
  if (field == "compute_cap" && !cluster.compute_capability.empty()) {
    return cluster.compute_capability;
  }
  if (field == "memory.total" && cluster.memory_mib > 0) {
    return fmt::format("{} MiB", cluster.memory_mib);
  }
  if (field.starts_with("utilization") || field == "memory.used") return std::string("0");
  return Error(
      fmt::format("nvidia-smi: --query-gpu={} has no answer here; it has index, name, "
                  "count, uuid, driver_version, utilization.gpu and memory.used, and with "
                  "--cluster compute_cap and memory.total",
                  field));
}

}  // namespace

Result<std::string> NvidiaSmi(const std::vector<std::string>& words, const ClusterSize& cluster) {
  std::vector<std::string> fields;
  std::string format = "csv", only;
  bool list = false;
  for (size_t i = 1; i < words.size(); ++i) {
    const std::string& word = words[i];
    const size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const auto value = [&]() -> std::string {
      if (equals != std::string::npos) return word.substr(equals + 1);
      return i + 1 < words.size() ? words[++i] : "";
    };
    if (name == "-L" || name == "--list-gpus") {
      list = true;
    } else if (name == "--query-gpu") {
      fields = SplitAtCommas(value());
    } else if (name == "--format") {
      format = value();
    } else if (name == "-i" || name == "--id") {
      only = value();
    }
    // Whatever else it is asked or told (clocks, topology, a table for people) prints nothing.
  }
  std::string text;
  if (!fields.empty() && format.find("noheader") == std::string::npos) {
    text += Join(fields) + "\n";
  }
  for (int gpu = 0; gpu < cluster.gpus_per_host; ++gpu) {
    if (!only.empty() && only != std::to_string(gpu)) continue;
    if (list) {
      text += fmt::format("GPU {}: {} (UUID: GPU-00000000-0000-0000-0000-{:012})\n", gpu,
                          cluster.gpu, gpu);
    }
    if (fields.empty()) continue;
    std::vector<std::string> values;
    for (const std::string& field : fields) {
      ASSIGN_OR_RETURN(const std::string value, ValueOfGpu(field, gpu, cluster));
      const bool bare = format.find("nounits") != std::string::npos;
      values.push_back(bare ? value.substr(0, value.find(" MiB")) : value);
    }
    text += Join(values) + "\n";
  }
  return text;
}

Result<std::string> Scontrol(const std::vector<std::string>& words, const Variables& environment) {
  const bool names = words.size() >= 3 && words[1] == "show" &&
                     (words[2] == "hostnames" || words[2] == "hostname" || words[2] == "hostlist");
  if (!names) {
    return Error(fmt::format("scontrol: '{}' has no answer here; it has 'scontrol show hostnames'",
                             Join(words, " ")));
  }
  const std::string list = words.size() > 3 ? words[3] : ValueOf(environment, "SLURM_JOB_NODELIST");
  if (list.empty()) {
    return Error(
        "scontrol: there is no job; write #SBATCH --nodes=N into the script, or set "
        "SLURM_JOB_NODELIST");
  }
  ASSIGN_OR_RETURN(const std::vector<std::string> expanded, ExpandHostNames(list));
  return Join(expanded, words[2] == "hostlist" ? "," : "\n") + "\n";
}

}  // namespace drydock::capture
