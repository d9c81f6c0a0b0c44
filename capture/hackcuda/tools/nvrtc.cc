// libnvrtc: programs compile kernels of their own with it, as PyTorch does for rare operators.
// Nothing is compiled. The driver knows what is loaded later by the kernel's name, as the log does.
#include <cstring>
#include <map>
#include <string>

#include "capture/hackcuda/device/exports.h"
#include "capture/hackcuda/device/log.h"

namespace drydock::hackcuda {
namespace {

enum Status : int { kSuccess = 0, kNoSuchName = 10 };

constexpr char kCode[] = "// not compiled\n";

// nvrtcProgram.
struct Program {
  std::map<std::string, std::string> names;  // expressions, and what the compiler makes of them
};
Program* Of(void* program) { return static_cast<Program*>(program); }

int Size(size_t* bytes) {
  *bytes = sizeof kCode;
  return kSuccess;
}
int Code(char* code) {
  memcpy(code, kCode, sizeof kCode);
  return kSuccess;
}

}  // namespace

HACKCUDA_EXPORT int nvrtcVersion(int* major, int* minor) {
  *major = hackcuda_version / 1000;
  *minor = hackcuda_version % 1000 / 10;
  return kSuccess;
}
HACKCUDA_EXPORT int nvrtcGetNumSupportedArchs(int* count) {
  *count = 1;
  return kSuccess;
}
HACKCUDA_EXPORT int nvrtcGetSupportedArchs(int* architectures) {
  *architectures = Process().compute_capability;
  return kSuccess;
}
HACKCUDA_EXPORT int nvrtcCreateProgram(void** program, const char*, const char*, int,
                                       const char* const*, const char* const*) {
  *program = new Program;
  return kSuccess;
}
HACKCUDA_EXPORT int nvrtcDestroyProgram(void** program) {
  delete Of(*program);
  *program = nullptr;
  return kSuccess;
}
HACKCUDA_EXPORT int nvrtcAddNameExpression(void* program, const char* expression) {
  Of(program)->names[expression] = expression;
  return kSuccess;
}
HACKCUDA_EXPORT int nvrtcGetLoweredName(void* program, const char* expression, const char** name) {
  const auto it = Of(program)->names.find(expression);
  if (it == Of(program)->names.end()) return kNoSuchName;
  *name = it->second.c_str();
  return kSuccess;
}
HACKCUDA_EXPORT int nvrtcCompileProgram(void*, int, const char* const*) { return kSuccess; }
HACKCUDA_EXPORT int nvrtcGetPTXSize(void*, size_t* bytes) { return Size(bytes); }
HACKCUDA_EXPORT int nvrtcGetPTX(void*, char* code) { return Code(code); }
HACKCUDA_EXPORT int nvrtcGetCUBINSize(void*, size_t* bytes) { return Size(bytes); }
HACKCUDA_EXPORT int nvrtcGetCUBIN(void*, char* code) { return Code(code); }
HACKCUDA_EXPORT int nvrtcGetProgramLogSize(void*, size_t* bytes) {
  *bytes = 1;
  return kSuccess;
}
HACKCUDA_EXPORT int nvrtcGetProgramLog(void*, char* text) {
  *text = '\0';
  return kSuccess;
}
HACKCUDA_EXPORT const char* nvrtcGetErrorString(int status) {
  return status == kSuccess ? "NVRTC_SUCCESS" : "NVRTC_ERROR_INVALID_INPUT";
}

}  // namespace drydock::hackcuda
