// What a shared library takes from others: the libraries that it needs by name, and the symbols
// that it does not define itself, each with the library and version that it asks for, where it
// does. Reads the dynamic section of x86-64 and AArch64 ELF files (System V ABI, "Dynamic Linking";
// LSB, "Symbol Versioning").
//
// Also the symbols that a static library defines.
#ifndef DRYDOCK_CAPTURE_STANDINS_ELF_SYMBOLS_H_
#define DRYDOCK_CAPTURE_STANDINS_ELF_SYMBOLS_H_

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace drydock::capture {

struct WantedSymbol {
  std::string name;
  std::string library, version;  // empty: from whichever library has the name
  auto operator<=>(const WantedSymbol&) const = default;
};

struct WantedSymbols {
  std::vector<std::string> libraries;  // "libcudart.so.12"
  std::vector<WantedSymbol> symbols;
};

// Reads the content of a file. An error names what is damaged. What is no shared library wants
// nothing.
Result<WantedSymbols> ParseWantedSymbols(std::string_view content, const std::string& path);

// Adds the names in the file's data that begin like functions of CUDA's driver and management
// library ("cuMemCreate", "nvmlInit_v2"): programs look these up by name.
void AddNamedSymbols(std::string_view content, std::set<std::string>* names);

// The global symbols that the objects of an archive (.a) define. REQUIRES: made by ar, with an
// index of its symbols.
Result<std::set<std::string>> ReadArchiveSymbols(const std::string& path);

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_STANDINS_ELF_SYMBOLS_H_
