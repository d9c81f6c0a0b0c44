#include "capture/environment/environment.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <regex>

#include "capture/standins/standins.h"
#include "core/base/files.h"
#include "core/base/process.h"

namespace drydock::capture {
namespace {

namespace fs = std::filesystem;

// Prints Python's version, where the packages are, and PyTorch's folder, without importing it: it
// would not load before its stand-ins are there.
constexpr const char* kFindTorch =
    "import importlib.util, platform, sysconfig\n"
    "print(platform.python_version())\n"
    "print(sysconfig.get_paths()['platlib'])\n"
    "spec = importlib.util.find_spec('torch')\n"
    "print(spec.submodule_search_locations[0] if spec else '')\n";

struct Torch {
  std::string packages, folder;
  std::string python_version, version;
  PackageVersions libraries;  // that it was built with

  // Of libraries that may want something of CUDA's. PyTorch may lie elsewhere than the packages of
  // this Python.
  std::vector<std::string> folders() const {
    const std::string own = DirectoryOf(folder);
    return own == packages ? std::vector{packages} : std::vector{packages, own};
  }
};

std::string Line(const std::string& text, int number) {
  size_t begin = 0;
  for (; number > 0 && begin != std::string::npos; --number) {
    begin = text.find('\n', begin);
    if (begin != std::string::npos) ++begin;
  }
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find('\n', begin) - begin);
}

Result<Torch> FindTorch(const std::string& python) {
  ASSIGN_OR_RETURN(const std::string said, RunCommand({python, "-c", kFindTorch}));
  Torch torch;
  torch.python_version = Line(said, 0);
  torch.packages = Line(said, 1);
  torch.folder = Line(said, 2);
  if (torch.folder.empty()) return Error("has no PyTorch (package 'torch')", {python, 0, 0});
  ASSIGN_OR_RETURN(const std::string text, ReadFile(torch.folder + "/version.py"));
  std::smatch found;
  if (std::regex_search(text, found, std::regex("__version__ = '([^']*)'")))
    torch.version = found[1];
  if (std::regex_search(text, found, std::regex("cuda[^=\n]*= '([^']*)'"))) {
    torch.libraries["cuda"] = found[1];
  }
  if (VersionNumber("libcudart", torch.libraries) == 0) {
    return Error(
        fmt::format("has PyTorch {} without CUDA; install a build with CUDA", torch.version),
        {python, 0, 0});
  }
  const std::string metadata =
      fmt::format("{}/torch-{}.dist-info/METADATA", DirectoryOf(torch.folder),
                  torch.version.substr(0, torch.version.find('+')));
  if (FileExists(metadata)) {
    ASSIGN_OR_RETURN(const std::string required, ReadFile(metadata));
    torch.libraries.merge(RequiredVersions(required));
  }
  return torch;
}

Result<std::vector<std::string>> ObserverSources(const CaptureParts& parts) {
  const std::string folder = parts.sources + "/capture/hooks/torch";
  std::vector<std::string> sources;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(folder, failed)) {
    if (entry.path().extension() == ".cc") sources.push_back(entry.path().string());
  }
  if (failed) return Error("cannot be read: " + failed.message(), {folder, 0, 0});
  std::sort(sources.begin(), sources.end());
  return sources;
}

Status BuildObserver(const Torch& torch, const CaptureParts& parts,
                     const std::vector<std::string>& sources, const std::string& out) {
  const std::string& folder = torch.folder;
  // PyTorch's headers change the layout of classes without NDEBUG.
  std::vector<std::string> command = {"c++",
                                      "-std=c++17",
                                      "-O1",
                                      "-DNDEBUG",
                                      "-w",
                                      "-shared",
                                      "-fPIC",
                                      "-fvisibility=hidden",
                                      "-D_GLIBCXX_USE_CXX11_ABI=1",
                                      "-I" + parts.sources,
                                      "-I" + folder + "/include",
                                      "-I" + folder + "/include/torch/csrc/api/include"};
  command.insert(command.end(), sources.begin(), sources.end());
  command.insert(command.end(), {"-L" + folder + "/lib", "-ltorch_cpu", "-lc10", "-L" + out,
                                 "-lhackcuda", "-o", out + "/libobserver.so"});
  const Result<std::string> built = RunCommand(command);
  return built.ok() ? OkStatus() : Status(built.error());
}

// Tells apart whatever changes a stand-in or observer.
Result<std::string> KeyOf(const Torch& torch, const WantedLibraries& wanted,
                          const CaptureParts& parts, const std::vector<std::string>& sources) {
  std::string text = fmt::format("{} {}\n", torch.version, torch.folder);
  for (const auto& [name, version] : torch.libraries) text += name + " " + version + "\n";
  for (const auto& [name, library] : wanted) {
    text += fmt::format("{} {} {}\n", name, library.version, fmt::join(library.symbols, " "));
  }
  std::vector<std::string> files = sources;
  files.push_back("/proc/self/exe");  // it generates what the archives lack
  files.push_back(parts.nccl);
  files.push_back(parts.libraries + "/libhackcuda.so");
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(parts.libraries, failed)) {
    if (entry.path().extension() == ".a") files.push_back(entry.path().string());
  }
  std::sort(files.begin() + static_cast<std::ptrdiff_t>(sources.size()), files.end());
  for (const std::string& file : files) {
    ASSIGN_OR_RETURN(const std::string hash, Sha256OfFile(file));
    text += hash + "\n";
  }
  return Sha256(text).substr(0, 16);
}

}  // namespace

Status CheckPython(const std::string& python) {
  const Result<Torch> torch = FindTorch(python);
  return torch.ok() ? OkStatus() : Status(torch.error());
}

Result<CaptureEnvironment> PrepareEnvironment(const std::string& python, const CaptureParts& parts,
                                              const std::string& cache, const Tell& tell) {
  ASSIGN_OR_RETURN(const Torch torch, FindTorch(python));
  ASSIGN_OR_RETURN(const WantedLibraries wanted, FindWanted(torch.folders()));
  ASSIGN_OR_RETURN(const std::vector<std::string> sources, ObserverSources(parts));
  ASSIGN_OR_RETURN(const std::string key, KeyOf(torch, wanted, parts, sources));
  CaptureEnvironment environment;
  environment.python_version = torch.python_version;
  environment.torch_version = torch.version;
  environment.folder = cache + "/" + key;
  environment.observer = environment.folder + "/libobserver.so";
  environment.hooks = parts.sources + "/capture/hooks/python";
  environment.preloaded.push_back(environment.folder + "/libhackcuda.so");
  for (const auto& [name, library] : wanted) {
    environment.preloaded.push_back(environment.folder + "/" + name);
  }
  if (FileExists(environment.observer)) return environment;
  RETURN_IF_ERROR(MakeDirectories(cache));
  ASSIGN_OR_RETURN(const FolderLock lock, FolderLock::Take(environment.folder, tell));
  if (FileExists(environment.observer)) return environment;
  if (tell) {
    tell(fmt::format("links {} stand-ins of CUDA's libraries for PyTorch {}, once", wanted.size(),
                     torch.version));
  }
  ASSIGN_OR_RETURN(StagedDirectory staged, StagedDirectory::Create(environment.folder));
  const Result<std::vector<std::string>> made =
      MakeStandins(wanted, {parts.libraries, parts.nccl, torch.libraries}, staged.path());
  if (!made.ok()) return made.error();
  if (tell) tell("compiles the observer of PyTorch's operators, once; it takes about a minute");
  RETURN_IF_ERROR(BuildObserver(torch, parts, sources, staged.path()));
  RETURN_IF_ERROR(staged.Commit());
  return environment;
}

std::vector<std::pair<std::string, std::string>> VariablesOf(const CaptureEnvironment& environment,
                                                             const CapturedRank& rank) {
  const auto text = [](int number) { return std::to_string(number); };
  return {
      {"DRYDOCK_CAPTURE", rank.folder},
      {"DRYDOCK_CAPTURE_OBSERVER", environment.observer},
      // NVIDIA's own libraries, where they are installed, come before LD_LIBRARY_PATH.
      {"LD_PRELOAD", fmt::format("{}", fmt::join(environment.preloaded, ":"))},
      {"LD_LIBRARY_PATH", environment.folder},
      {"TRITON_LIBCUDA_PATH", environment.folder},
      {"PYTHONPATH", environment.hooks},
      {"RANK", text(rank.rank)},
      {"WORLD_SIZE", text(rank.world)},
      {"LOCAL_RANK", text(rank.local)},
      {"LOCAL_WORLD_SIZE", text(rank.local_world)},
      {"GROUP_RANK", text(rank.host)},
      {"GROUP_WORLD_SIZE", text(rank.hosts)},
      {"NODE_RANK", text(rank.host)},
      {"MASTER_ADDR", "127.0.0.1"},
      {"MASTER_PORT", "29500"},
      {"TORCHELASTIC_RUN_ID", "capture"},
      // One order of additions, and no threads that wait for a core which another rank has.
      {"OMP_NUM_THREADS", "1"},
      {"PYTHONFAULTHANDLER", "1"},
      {"PYTHONHASHSEED", "0"},  // sets are walked in the same order by every capture
      // Threads of PyTorch that would wait for the absent ranks.
      {"TORCH_NCCL_ENABLE_MONITORING", "0"},
      {"TORCH_NCCL_DUMP_ON_TIMEOUT", "0"},
  };
}

}  // namespace drydock::capture
