#include "capture/standins/standins.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <regex>

#include "capture/standins/mapped_file.h"
#include "core/base/files.h"
#include "core/base/process.h"

namespace drydock::capture {
namespace {

// How a library writes its version as a number: 12080 of 12.8, 11303 of 11.3.3, 120804 of 12.8.4.
enum class Numbering { kCuda, kHundreds, kTenThousands };

// A library of CUDA: how its symbols begin, the status by which its functions refuse, the package
// that has it, and the archive of libhackcuda that knows its functions.
struct CudaLibraryFacts {
  const char* name;
  const char* prefix;  // a regular expression
  long refusal;
  const char* package;  // without "nvidia-"; "cuda" where no package has it
  Numbering numbering;
  const char* archive;  // null: libhackcuda knows no function of it
};
constexpr CudaLibraryFacts kLibraries[] = {
    {"libcudart", "(__)?cuda[A-Z_]", 801, "cuda", Numbering::kCuda, "cudart"},
    {"libcuda", "cu[A-Z]", 801, "cuda", Numbering::kCuda, "cuda"},
    {"libcublasLt", "cublasLt", 15, "cublas", Numbering::kTenThousands, "cublaslt"},
    {"libcublas", "cublas", 15, "cublas", Numbering::kTenThousands, "cublas"},
    {"libcudnn", "cudnn", 3000, "cudnn", Numbering::kTenThousands, "cudnn"},
    {"libcufft", "cufft", 16, "cufft", Numbering::kHundreds, nullptr},
    {"libcurand", "curand", 201, "curand", Numbering::kHundreds, nullptr},
    {"libcusolver", "cusolver", 9, "cusolver", Numbering::kHundreds, nullptr},
    {"libcusparseLt", "cusparseLt", 10, "cusparselt", Numbering::kHundreds, nullptr},
    {"libcusparse", "cusparse", 10, "cusparse", Numbering::kHundreds, nullptr},
    {"libcufile", "cuFile", 5027, "cufile", Numbering::kHundreds, nullptr},
    {"libcupti", "cupti", 15, "cuda", Numbering::kCuda, "cupti"},
    {"libnvrtc", "nvrtc", 11, "cuda", Numbering::kCuda, "nvrtc"},
    {"libnvJitLink", "nvJitLink", 11, "cuda", Numbering::kCuda, nullptr},
    {"libnvshmem_host", "nvshmem", 1, "nvshmem", Numbering::kHundreds, nullptr},
    {"libnvidia-ml", "nvml", 3, "cuda", Numbering::kCuda, "nvml"},
    {"libnccl", "nccl", 5, "nccl", Numbering::kTenThousands, nullptr},
};

constexpr std::string_view kNccl = "libnccl";

// A library in parts is known by its first one: libcudnn_graph by libcudnn.
const CudaLibraryFacts* FactsOf(const std::string& name) {
  for (const CudaLibraryFacts& facts : kLibraries) {
    if (name == facts.name || name.starts_with(std::string(facts.name) + "_")) return &facts;
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

// Parts of a library have what files name in them, and nothing else.
bool IsFirst(const std::string& file_name, const CudaLibraryFacts& facts) {
  return CudaLibrary(file_name) == facts.name;
}

Status CopyFile(const std::string& from, const std::string& to) {
  std::error_code failed;
  std::filesystem::copy_file(from, to, std::filesystem::copy_options::overwrite_existing, failed);
  return failed ? Status(Error("cannot be copied: " + failed.message(), {from, 0, 0})) : OkStatus();
}

// Other versions of the library may be installed on this machine. A program that looks for them
// finds files that cannot be loaded, as on a machine without them.
Status BlockOtherVersions(const std::string& file_name, const WantedLibraries& libraries,
                          const std::string& out) {
  constexpr int kBlocked = 2;  // before and after the version that the program wants
  const size_t dot = file_name.find(".so.");
  if (dot == std::string::npos) return OkStatus();
  const std::string base = file_name.substr(0, dot + 4);
  const int own = std::atoi(file_name.c_str() + base.size());
  for (int version = std::max(own - kBlocked, 0); version <= own + kBlocked; ++version) {
    const std::string other = base + std::to_string(version);
    if (libraries.count(other) != 0) continue;
    RETURN_IF_ERROR(WriteFileAtomically(
        out + "/" + other, fmt::format("In a capture, the program has {} alone.\n", file_name)));
  }
  return OkStatus();
}

std::string RestOfLibrary(const std::string& file_name, const CudaLibraryFacts& facts,
                          const std::set<std::string>& names) {
  std::string text =
      "long hackcuda_refuse(const char*, const char*, long);\n"
      "__attribute__((visibility(\"hidden\"))) extern const int hackcuda_version;\n"
      "const int hackcuda_version = HACKCUDA_VERSION;\n";
  // These return texts, not statuses. CUDA's driver and CUPTI write them to an argument instead.
  static const std::regex kTexts("(?!cu[A-Z]|cupti).*(Error|Status|Result)(String|Name)");
  for (const std::string& name : names) {
    if (std::regex_match(name, kTexts)) {
      text +=
          fmt::format("const char* {}(void) {{ return \"not available in a capture\"; }}\n", name);
      continue;
    }
    text += fmt::format("long {0}(void) {{ return hackcuda_refuse(\"{1}\", \"{0}\", {2}); }}\n",
                        name, file_name, facts.refusal);
  }
  return text;
}

// The archive of libhackcuda that knows functions of this library; "" if there is none.
std::string ArchiveOf(const std::string& file_name, const CudaLibraryFacts& facts,
                      const StandinSources& sources) {
  if (facts.archive == nullptr || !IsFirst(file_name, facts)) return "";
  return fmt::format("{}/libhackcuda_{}.a", sources.folder, facts.archive);
}

// Links the stand-in of one library. REQUIRES: if it is a part of a library, the first one is
// there.
Status LinkStandin(const std::string& file_name, const WantedLibraries& libraries,
                   const StandinSources& sources, const std::string& out) {
  const CudaLibraryFacts& facts = *FactsOf(CudaLibrary(file_name));
  const WantedLibrary& library = libraries.at(file_name);
  const std::string archive = ArchiveOf(file_name, facts, sources);
  std::set<std::string> rest = library.symbols;
  if (!archive.empty()) {
    ASSIGN_OR_RETURN(const std::set<std::string> known, ReadArchiveSymbols(archive));
    for (const std::string& name : known) rest.erase(name);
  }
  std::vector<std::string> command = {
      "cc",      "-O1",
      "-fPIC",   "-w",
      "-shared", fmt::format("-DHACKCUDA_VERSION={}", VersionNumber(facts.name, sources.versions))};
  // Apart from the libraries, and named otherwise: programs look for some by how names begin.
  const std::string source = out + "/sources/of-" + file_name;
  RETURN_IF_ERROR(WriteFileAtomically(source + ".c", RestOfLibrary(file_name, facts, rest)));
  const std::string versions = library.version.empty() ? "" : library.version + " ";
  RETURN_IF_ERROR(WriteFileAtomically(source + ".map", versions + "{ global: *; };\n"));
  command.push_back(source + ".c");
  if (!archive.empty()) {
    command.insert(command.end(), {"-Wl,--whole-archive", archive, "-Wl,--no-whole-archive"});
  }
  command.insert(
      command.end(),
      {"-Wl,-soname," + file_name, "-Wl,--version-script=" + source + ".map", "-Wl,-rpath,$ORIGIN",
       "-L" + out, "-lhackcuda", "-lstdc++", "-o", out + "/" + file_name});
  // A program that looks a function up in a part finds it in the first library. Names of parts
  // come later, so it is there.
  for (const auto& [other, _] : libraries) {
    if (other == file_name || IsFirst(file_name, facts) || !IsFirst(other, facts)) continue;
    command.insert(command.end(), {"-Wl,--no-as-needed", "-l:" + other});
  }
  const Result<std::string> built = RunCommand(command);
  return built.ok() ? OkStatus() : Status(built.error());
}

}  // namespace

PackageVersions RequiredVersions(const std::string& metadata) {
  static const std::regex kRequired("Requires-Dist: nvidia-([a-z-]+?)(-cu[0-9]+)? *==([0-9.]+)");
  PackageVersions versions;
  for (std::sregex_iterator it(metadata.begin(), metadata.end(), kRequired), end; it != end; ++it) {
    versions[(*it)[1]] = (*it)[3];
  }
  return versions;
}

int VersionNumber(const std::string& library, const PackageVersions& versions) {
  const CudaLibraryFacts* facts = FactsOf(library);
  auto known = facts == nullptr ? versions.end() : versions.find(facts->package);
  if (known == versions.end()) known = versions.find("cuda");
  int major = 0, minor = 0, patch = 0;
  if (facts == nullptr || known == versions.end() ||
      std::sscanf(known->second.c_str(), "%d.%d.%d", &major, &minor, &patch) < 2) {
    return 0;
  }
  switch (facts->numbering) {
    case Numbering::kCuda:
      return major * 1000 + minor * 10;
    case Numbering::kHundreds:
      return major * 1000 + minor * 100 + patch;
    case Numbering::kTenThousands:
      return major * 10000 + minor * 100 + patch;
  }
  return 0;
}

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
        if (IsFirst(name, *facts)) library.symbols.insert(symbol.name);
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
  RETURN_IF_ERROR(MakeDirectories(out + "/sources"));
  std::vector<std::string> paths;
  for (const auto& [file_name, library] : libraries) {
    RETURN_IF_ERROR(BlockOtherVersions(file_name, libraries, out));
    // NCCL's is one library whatever the program wants of it.
    RETURN_IF_ERROR(CudaLibrary(file_name) == kNccl
                        ? CopyFile(sources.nccl, out + "/" + file_name)
                        : LinkStandin(file_name, libraries, sources, out));
    paths.push_back(out + "/" + file_name);
  }
  return paths;
}

}  // namespace drydock::capture
