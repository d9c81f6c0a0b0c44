#include "drydock/machine/doctor.h"

#include <fmt/format.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "core/base/installation.h"
#include "core/base/process.h"
#include "core/nccl/nccl_library.h"

namespace drydock {
namespace {

struct Tool {
  const char* name;
  const char* purpose;
  bool needed;  // by drydock run
};
constexpr Tool kTools[] = {
    {"workload-gen", "run", true},
    {"simccl", "run, explain", true},
    {"compute-sim", "run", true},
    {"exec-engine", "run, what-if", true},
    {"report", "run, report, compare", true},
    {"collective-perf", "collectives", false},
    {"nccl-record", "record", false},
    {"drydock-capture", "capture", false},
    {"drydock-sweep", "sweep", false},
    {"drydock-search", "search", false},
    {"gpu-profiler", "profile", false},
};

struct Program {
  const char* name;
  const char* purpose;
  const char* remedy;
};
constexpr Program kPrograms[] = {
    {"mpirun", "run --processes", "install the package openmpi-bin"},
    {"c++", "capture, record", "install the package g++"},
    {"python3", "capture", "install the package python3"},
    {"nvcc", "building gpu-profiler", "install CUDA's toolkit, on a machine with a GPU"},
};

constexpr double kLittleMemory = 4e9;  // bytes; the shipped models of hundreds of GPUs need it

Finding FindTool(const std::string& folder, const Tool& tool) {
  const std::string file = folder + "/" + tool.name;
  if (::access(file.c_str(), X_OK) == 0) {
    return {Finding::Kind::kPresent, tool.name, file, tool.purpose};
  }
  const std::string remedy =
      IsInstalled() ? "this package lacks it"
                    : fmt::format("cmake --build {} --target {}",
                                  std::filesystem::path(folder).parent_path().string(), tool.name);
  return {tool.needed ? Finding::Kind::kMissing : Finding::Kind::kAbsent, tool.name, remedy,
          tool.purpose};
}

Finding FindNccl() {
  const std::string what = "libhacknccl.so", purpose = "run, explain, collectives, record";
  const auto library = NcclLibrary::Load();
  if (library.ok()) return {Finding::Kind::kPresent, what, NcclLibrary::Find(), purpose};
  return {Finding::Kind::kMissing, what, library.error().ToString(), purpose};
}

Finding FindConfigs() {
  const std::string folder = ConfigDirectory();
  std::error_code failed;
  const bool there = std::filesystem::is_directory(folder + "/gpus", failed);
  return {there ? Finding::Kind::kPresent : Finding::Kind::kMissing, "configs",
          there ? folder : folder + " is not there: the tree was moved or is incomplete", "run"};
}

Finding FindMemory() {
  struct sysinfo info = {};
  ::sysinfo(&info);
  const double bytes = static_cast<double>(info.totalram) * info.mem_unit;
  const std::string detail = fmt::format("{:.1f} GB, {} cores", bytes * 1e-9,
                                         std::max(1u, std::thread::hardware_concurrency()));
  if (bytes >= kLittleMemory) return {Finding::Kind::kPresent, "memory", detail, "run"};
  return {Finding::Kind::kAbsent, "memory", detail + ": little", "runs of hundreds of GPUs"};
}

Finding FindWorkingFolder(const std::string& working) {
  if (::access(working.c_str(), W_OK) == 0) {
    return {Finding::Kind::kPresent, "runs/", "in " + working, "run"};
  }
  return {Finding::Kind::kAbsent, "runs/", working + " cannot be written", "run without --out"};
}

}  // namespace

std::vector<Finding> Examine(const std::string& folder, const std::string& path,
                             const std::string& working) {
  std::vector<Finding> findings;
  for (const Tool& tool : kTools) findings.push_back(FindTool(folder, tool));
  findings.push_back(FindNccl());
  findings.push_back(FindConfigs());
  for (const Program& program : kPrograms) {
    const std::string file = FindProgram(program.name, path);
    findings.push_back({file.empty() ? Finding::Kind::kAbsent : Finding::Kind::kPresent,
                        program.name, file.empty() ? program.remedy : file, program.purpose});
  }
  findings.push_back(FindMemory());
  findings.push_back(FindWorkingFolder(working));
  return findings;
}

std::string ToText(const std::vector<Finding>& findings) {
  std::string text;
  for (const Finding& finding : findings) {
    const char* state = finding.kind == Finding::Kind::kPresent  ? "ok"
                        : finding.kind == Finding::Kind::kAbsent ? "lacks"
                                                                 : "MISSING";
    text += fmt::format("{:<8} {:<16} {:<36} {}\n", state, finding.what, "for " + finding.purpose,
                        finding.detail);
  }
  return text;
}

bool IsComplete(const std::vector<Finding>& findings) {
  return std::none_of(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.kind == Finding::Kind::kMissing;
  });
}

}  // namespace drydock
