#include "capture/standins/standins.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <regex>

#include "capture/standins/command.h"
#include "capture/standins/mapped_file.h"
#include "core/base/files.h"

namespace drydock::capture {
namespace {

// A library of CUDA: how its symbols begin, and the status by which its functions refuse.
struct CudaLibraryFacts {
  const char* name;
  const char* prefix;  // a regular expression
  long refusal;
  const char* archive;  // of libhackcuda; null: it knows no function of this library
};
constexpr CudaLibraryFacts kLibraries[] = {
    {"libcudart", "(__)?cuda[A-Z_]", 801, "cudart"},
    {"libcuda", "cu[A-Z]", 801, "cuda"},
    {"libcublasLt", "cublasLt", 15, "cublaslt"},
    {"libcublas", "cublas", 15, "cublas"},
    {"libcudnn", "cudnn", 3000, "cudnn"},
    {"libcufft", "cufft", 16, nullptr},
    {"libcurand", "curand", 201, nullptr},
    {"libcusolver", "cusolver", 9, nullptr},
    {"libcusparseLt", "cusparseLt", 10, nullptr},
    {"libcusparse", "cusparse", 10, nullptr},
    {"libcufile", "cuFile", 5027, nullptr},
    {"libcupti", "cupti", 15, nullptr},
    {"libnvrtc", "nvrtc", 6, nullptr},
    {"libnvJitLink", "nvJitLink", 11, nullptr},
    {"libnvshmem_host", "nvshmem", 1, nullptr},
    {"libnvidia-ml", "nvml", 3, "nvml"},
    {"libnccl", "nccl", 5, nullptr},
};

constexpr std::string_view kNccl = "libnccl";

const CudaLibraryFacts* FactsOf(const std::string& name) {
  for (const CudaLibraryFacts& facts : kLibraries) {
    if (facts.name == name) return &facts;
  }
  return nullptr;
}

// The library whose symbols begin like this one. Longer names first: cublasLt before cublas.
const CudaLibraryFacts* LibraryOfSymbol(const std::string& symbol) {
  static const std::vector<std::pair<std::regex, const CudaLibraryFacts*>> kPatterns = [] {
    std::vector<std::pair<std::regex, const CudaLibraryFacts*>> patterns;
    for (const CudaLibraryFacts& facts : kLibraries) {
      patterns.emplace_back(std::regex(std::string(facts.prefix) + ".*"), &facts);
    }
    return patterns;
  }();
  for (const auto& [pattern, facts] : kPatterns) {
    if (std::regex_match(symbol, pattern)) return facts;
  }
  return nullptr;
}

Status CopyFile(const std::string& from, const std::string& to) {
  std::error_code failed;
  std::filesystem::copy_file(from, to, std::filesystem::copy_options::overwrite_existing, failed);
  return failed ? Status(Error("cannot be copied: " + failed.message(), {from, 0, 0})) : OkStatus();
}

std::string RestOfLibrary(const std::string& file_name, const CudaLibraryFacts& facts,
                          const std::set<std::string>& names) {
  std::string text =
      "long hackcuda_refuse(const char*, const char*, long);\n"
      "__attribute__((visibility(\"hidden\"))) extern const int hackcuda_version;\n"
      "const int hackcuda_version = HACKCUDA_VERSION;\n";
  for (const std::string& name : names) {
    text += fmt::format("long {0}(void) {{ return hackcuda_refuse(\"{1}\", \"{0}\", {2}); }}\n",
                        name, file_name, facts.refusal);
  }
  return text;
}

}  // namespace

std::string CudaLibrary(const std::string& file_name) {
  const std::string name = file_name.substr(0, file_name.find(".so"));
  return file_name.find(".so") != std::string::npos && FactsOf(name) != nullptr ? name : "";
}

void AddWanted(const std::vector<WantedSymbols>& files, WantedLibraries* libraries) {
  for (const WantedSymbols& wanted : files) {
    for (const std::string& library : wanted.libraries) {
      if (!CudaLibrary(library).empty()) (*libraries)[library];
    }
  }
  for (const WantedSymbols& wanted : files) {
    for (const WantedSymbol& symbol : wanted.symbols) {
      if (!symbol.library.empty()) {
        if (CudaLibrary(symbol.library).empty()) continue;
        WantedLibrary& library = (*libraries)[symbol.library];
        library.version = symbol.version;
        library.symbols.insert(symbol.name);
        continue;
      }
      const CudaLibraryFacts* facts = LibraryOfSymbol(symbol.name);
      if (facts == nullptr) continue;
      for (auto& [name, library] : *libraries) {
        if (CudaLibrary(name) == facts->name) library.symbols.insert(symbol.name);
      }
    }
  }
}

Result<WantedLibraries> FindWanted(const std::vector<std::string>& folders) {
  namespace fs = std::filesystem;
  std::vector<std::string> paths;
  for (const std::string& folder : folders) {
    std::error_code failed;
    for (fs::recursive_directory_iterator it(folder, failed), end; it != end;
         it.increment(failed)) {
      if (failed) break;
      const std::string name = it->path().filename().string();
      if (!it->is_regular_file(failed) || name.find(".so") == std::string::npos) continue;
      if (CudaLibrary(name).empty()) paths.push_back(it->path().string());
    }
    if (failed) return Error("cannot be read: " + failed.message(), {folder, 0, 0});
  }
  std::sort(paths.begin(), paths.end());
  // Every program may ask the driver and the management library without being linked with them.
  WantedLibraries libraries = {{"libcuda.so.1", {}}, {"libnvidia-ml.so.1", {}}};
  std::vector<WantedSymbols> files;
  std::set<std::string> named;
  for (const std::string& path : paths) {
    ASSIGN_OR_RETURN(const MappedFile file, MappedFile::Open(path));
    ASSIGN_OR_RETURN(WantedSymbols wanted, ParseWantedSymbols(file.content(), path));
    if (!wanted.libraries.empty()) AddNamedSymbols(file.content(), &named);
    files.push_back(std::move(wanted));
  }
  WantedSymbols& by_name = files.emplace_back();
  for (const std::string& name : named) by_name.symbols.push_back({name, "", ""});
  AddWanted(files, &libraries);
  return libraries;
}

Result<std::vector<std::string>> MakeStandins(const WantedLibraries& libraries,
                                              const StandinSources& sources,
                                              const std::string& out) {
  RETURN_IF_ERROR(CopyFile(sources.folder + "/libhackcuda.so", out + "/libhackcuda.so"));
  std::vector<std::string> paths;
  for (const auto& [file_name, library] : libraries) {
    const CudaLibraryFacts& facts = *FactsOf(CudaLibrary(file_name));
    if (facts.name == kNccl) {
      // It is one library whatever the program wants of it.
      RETURN_IF_ERROR(CopyFile(sources.nccl, out + "/" + file_name));
      paths.push_back(out + "/" + file_name);
      continue;
    }
    std::set<std::string> rest = library.symbols;
    std::vector<std::string> command = {
        "cc", "-O1",     "-fPIC",
        "-w", "-shared", fmt::format("-DHACKCUDA_VERSION={}", sources.cuda_version)};
    std::string archive;
    if (facts.archive != nullptr) {
      archive = fmt::format("{}/libhackcuda_{}.a", sources.folder, facts.archive);
      if (FileExists(archive)) {
        ASSIGN_OR_RETURN(const std::set<std::string> known, ReadArchiveSymbols(archive));
        for (const std::string& name : known) rest.erase(name);
      } else {
        archive.clear();
      }
    }
    const std::string base = out + "/" + file_name;
    RETURN_IF_ERROR(WriteFileAtomically(base + ".c", RestOfLibrary(file_name, facts, rest)));
    const std::string versions = library.version.empty() ? "" : library.version + " ";
    RETURN_IF_ERROR(WriteFileAtomically(base + ".map", versions + "{ global: *; };\n"));
    command.push_back(base + ".c");
    if (!archive.empty()) {
      command.insert(command.end(), {"-Wl,--whole-archive", archive, "-Wl,--no-whole-archive"});
    }
    command.insert(command.end(),
                   {"-Wl,-soname," + file_name, "-Wl,--version-script=" + base + ".map",
                    "-Wl,-rpath,$ORIGIN", "-L" + out, "-lhackcuda", "-lstdc++", "-o", base});
    const Result<std::string> built = RunCommand(command);
    if (!built.ok()) return built.error();
    paths.push_back(base);
  }
  return paths;
}

}  // namespace drydock::capture
