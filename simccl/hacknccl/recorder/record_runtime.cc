// What this library tells the CUDA runtime stand-in (cudart/). The runtime and NCCL see the same
// host and the same current device, and write one log.
#include <cuda_runtime_api.h>

#include "simccl/hacknccl/recorder/recorder.h"

namespace {

using drydock::RecordEntry;
using drydock::Recorder;

const char* Reason() { return Recorder::Get().reason().c_str(); }
const drydock::RecordHost* Host() { return &Recorder::Get().host(); }
void SetDevice(int device) { cudaSetDevice(device); }
int Device() {
  int device = 0;
  cudaGetDevice(&device);
  return device;
}
void Log(const RecordEntry* entry) { Recorder::Get().Log(entry, 1); }
void CountKernel() { Recorder::Get().CountKernel(Device()); }
void CountCopy() { Recorder::Get().CountCopy(Device()); }

const drydock::RecordingApi kApi = {Reason, Host, SetDevice, Device, Log, CountKernel, CountCopy};

}  // namespace

extern "C" __attribute__((visibility("default"))) const drydock::RecordingApi*
hacknccl_get_recording() {
  return &kApi;
}
