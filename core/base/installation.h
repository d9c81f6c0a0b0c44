// This Drydock: its version, and where its parts lie. An installed tree is found from the folder of
// the executable, so it can be moved:
//   PREFIX/bin                 the executables
//   PREFIX/lib/drydock         libhacknccl.so and the libraries of captured and recorded programs
//   PREFIX/share/drydock       configs, sources that a captured program is built with, the commit
//   PREFIX/share/doc/drydock   the documents
// An executable of a build tree finds the source tree that CMake was given. Thread-safe.
#ifndef DRYDOCK_CORE_BASE_INSTALLATION_H_
#define DRYDOCK_CORE_BASE_INSTALLATION_H_

#include <string>

namespace drydock {

// "0.2.0".
const char* DrydockVersion();
// The commit that was built, in hexadecimal; "" if it was built outside a git repository.
std::string BuiltCommit();

// The format of the artefacts of a run directory. A tool refuses artefacts of another format.
inline constexpr unsigned kArtefactFormat = 6;
// The version of Chakra's schema that workload traces state.
inline constexpr const char* kChakraSchema = "0.0.4";

// True if this executable belongs to an installed tree.
bool IsInstalled();

// The folder of gpus/, clusters/, models/, profiles/ and the files of assumptions.
std::string ConfigDirectory();
// The folder of reference/, how-to/, tutorial/ and explanation/.
std::string DocsDirectory();
// The folder of libhacknccl.so and drop-in/.
std::string NcclDirectory();
// The folder of capture/ and third_party/, which are compiled and read when a program is captured.
std::string SourceDirectory();
// The folder of hackcuda/ and launch/, which are loaded into captured programs.
std::string CaptureLibraryDirectory();

}  // namespace drydock

#endif  // DRYDOCK_CORE_BASE_INSTALLATION_H_
