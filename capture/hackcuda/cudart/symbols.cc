// Variables of device code, by the host variables that stand for them. They get memory when the
// program first asks for it.
#include <map>
#include <mutex>

#include "capture/hackcuda/cudart/runtime.h"
#include "capture/hackcuda/device/copies.h"
#include "capture/hackcuda/device/memory.h"

namespace drydock::hackcuda::cudart {
namespace {

constexpr int kInvalidSymbol = 13;  // cudaErrorInvalidSymbol

struct Variable {
  size_t bytes = 0;
  char* address = nullptr;
};
struct Variables {
  std::mutex mutex;
  std::map<const void*, Variable> by_symbol;
};
Variables& All() {
  static Variables& variables = *new Variables;
  return variables;
}

// Null if no library has registered it.
const Variable* Find(const void* symbol) {
  const std::lock_guard<std::mutex> lock(All().mutex);
  const auto it = All().by_symbol.find(symbol);
  if (it == All().by_symbol.end()) return nullptr;
  Variable& variable = it->second;
  if (variable.address == nullptr) {
    variable.address = static_cast<char*>(ReserveAddresses(variable.bytes));
  }
  return variable.address == nullptr ? nullptr : &variable;
}

Error Missing() { return Return(static_cast<Error>(kInvalidSymbol)); }

}  // namespace

HACKCUDA_EXPORT void __cudaRegisterVar(void**, char* symbol, char*, const char*, int, size_t bytes,
                                       int, int) {
  const std::lock_guard<std::mutex> lock(All().mutex);
  All().by_symbol[symbol].bytes = bytes == 0 ? 1 : bytes;
}
HACKCUDA_EXPORT int cudaGetSymbolAddress(void** address, const void* symbol) {
  const Variable* found = Find(symbol);
  if (found == nullptr) return Missing();
  *address = found->address;
  return kSuccess;
}
HACKCUDA_EXPORT int cudaGetSymbolSize(size_t* bytes, const void* symbol) {
  const Variable* found = Find(symbol);
  if (found == nullptr) return Missing();
  *bytes = found->bytes;
  return kSuccess;
}
HACKCUDA_EXPORT int cudaMemcpyToSymbolAsync(const void* symbol, const void* from, size_t bytes,
                                            size_t offset, int, void* stream) {
  const Variable* found = Find(symbol);
  if (found == nullptr) return Missing();
  if (offset > found->bytes || bytes > found->bytes - offset) return Return(kInvalidValue);
  Copy(found->address + offset, from, bytes, stream, Waits::kIfNotPinned);
  return kSuccess;
}
HACKCUDA_EXPORT int cudaMemcpyToSymbol(const void* symbol, const void* from, size_t bytes,
                                       size_t offset, int) {
  const Variable* found = Find(symbol);
  if (found == nullptr) return Missing();
  if (offset > found->bytes || bytes > found->bytes - offset) return Return(kInvalidValue);
  Copy(found->address + offset, from, bytes, nullptr, Waits::kAlways);
  return kSuccess;
}
HACKCUDA_EXPORT int cudaMemcpyFromSymbol(void* to, const void* symbol, size_t bytes, size_t offset,
                                         int) {
  const Variable* found = Find(symbol);
  if (found == nullptr) return Missing();
  if (offset > found->bytes || bytes > found->bytes - offset) return Return(kInvalidValue);
  Copy(to, found->address + offset, bytes, nullptr, Waits::kAlways);
  return kSuccess;
}

}  // namespace drydock::hackcuda::cudart
