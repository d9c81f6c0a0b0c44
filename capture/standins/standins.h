// The libraries of CUDA that a program takes from: makes a stand-in for each, which has every
// symbol that the program's own libraries want from it. What libhackcuda does not know refuses with
// its name.
//
// The names of libraries, symbols and versions are read from the program's files, so another
// release of PyTorch or CUDA needs no change here.
#ifndef DRYDOCK_CAPTURE_STANDINS_STANDINS_H_
#define DRYDOCK_CAPTURE_STANDINS_STANDINS_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "capture/standins/elf_symbols.h"
#include "core/base/result.h"

namespace drydock::capture {

// A library that a program wants.
struct WantedLibrary {
  std::string version;  // of its symbols; empty: none
  std::set<std::string> symbols;
};

// By file name: "libcudart.so.12".
using WantedLibraries = std::map<std::string, WantedLibrary>;

// Returns the folder-less name of the CUDA library that the file name belongs to ("libcudart"), or
// "" if it is none of CUDA's. Parts of a library count: "libcudnn_graph".
std::string CudaLibrary(const std::string& file_name);

// Adds what the files of a program want of CUDA's libraries. A symbol without a library belongs to
// the one of its prefix that any of the files is linked with.
void AddWanted(const std::vector<WantedSymbols>& files, WantedLibraries* libraries);

// Reads all shared libraries (*.so, *.so.*) below the folders. Skips CUDA's own, whose place the
// stand-ins take.
Result<WantedLibraries> FindWanted(const std::vector<std::string>& folders);

// Versions of NVIDIA's packages by name, such as "cublas": "12.8.4.1".
using PackageVersions = std::map<std::string, std::string>;

// Reads what a package of Python requires: "Requires-Dist: nvidia-cublas-cu12==12.8.4.1; ...".
PackageVersions RequiredVersions(const std::string& metadata);

struct StandinSources {
  std::string folder;        // of libhackcuda.so, and the archives libhackcuda_NAME.a
  std::string nccl;          // libhacknccl.so
  PackageVersions versions;  // of the libraries that the program was built with; "cuda" is known
};

// The number by which a library calls its version: 12080 for libcudart of 12.8, 120804 for
// libcublas of 12.8.4, 91002 for libcudnn of 9.10.2. 0: unknown.
int VersionNumber(const std::string& library, const PackageVersions& versions);

// Writes the stand-ins of all libraries, and libhackcuda.so, into `out`, which exists. Needs a C
// compiler. Returns the paths of the stand-ins.
Result<std::vector<std::string>> MakeStandins(const WantedLibraries& libraries,
                                              const StandinSources& sources,
                                              const std::string& out);

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_STANDINS_STANDINS_H_
