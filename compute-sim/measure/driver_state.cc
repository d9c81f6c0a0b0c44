#include "compute-sim/measure/driver_state.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace drydock {
namespace {

// Constants of NVML's interface, which NVIDIA keeps stable: status 0 is success, clock 1 is the
// clock of the SMs, clock 2 is the clock of the memory. Clocks are in MHz, power is in milliwatts.
using Device = void*;
constexpr int kSuccess = 0;
constexpr int kSmClock = 1, kMemoryClock = 2;

}  // namespace

struct DriverState::Library {
  void* handle = nullptr;
  Device device = nullptr;
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*by_pci)(const char*, Device*) = nullptr;
  int (*version)(char*, unsigned) = nullptr;
  int (*clock)(Device, int, unsigned*) = nullptr;
  int (*max_clock)(Device, int, unsigned*) = nullptr;
  int (*power)(Device, unsigned*) = nullptr;
  int (*power_limit)(Device, unsigned*) = nullptr;

  template <typename Function>
  bool Find(const char* name, Function* function) const {
    *function = reinterpret_cast<Function>(dlsym(handle, name));
    return *function != nullptr;
  }
  bool Load() {
    handle = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    return handle != nullptr && Find("nvmlInit_v2", &init) && Find("nvmlShutdown", &shutdown) &&
           Find("nvmlDeviceGetHandleByPciBusId_v2", &by_pci) &&
           Find("nvmlSystemGetDriverVersion", &version) && Find("nvmlDeviceGetClockInfo", &clock) &&
           Find("nvmlDeviceGetMaxClockInfo", &max_clock) &&
           Find("nvmlDeviceGetPowerUsage", &power) &&
           Find("nvmlDeviceGetEnforcedPowerLimit", &power_limit) && init() == kSuccess;
  }
};

DriverState::DriverState(const std::string& pci) {
  library_ = new Library;
  if (library_->Load() && library_->by_pci(pci.c_str(), &library_->device) == kSuccess) return;
  if (library_->handle != nullptr) dlclose(library_->handle);
  delete library_;
  library_ = nullptr;
}

DriverState::~DriverState() {
  if (library_ == nullptr) return;
  library_->shutdown();
  dlclose(library_->handle);
  delete library_;
}

std::string DriverState::Version() const {
  char text[96] = {};
  if (library_ == nullptr || library_->version(text, sizeof text - 1) != kSuccess) return "";
  return text;
}

std::string DriverState::MaxClocks() const {
  unsigned sm = 0, memory = 0, milliwatts = 0;
  if (library_ == nullptr || library_->max_clock(library_->device, kSmClock, &sm) != kSuccess ||
      library_->max_clock(library_->device, kMemoryClock, &memory) != kSuccess ||
      library_->power_limit(library_->device, &milliwatts) != kSuccess) {
    return "";
  }
  return fmt::format("SM clock at most {} MHz, memory {} MHz, limit {} W", sm, memory,
                     milliwatts / 1000);
}

std::string DriverState::Now() const {
  unsigned sm = 0, milliwatts = 0;
  if (library_ == nullptr || library_->clock(library_->device, kSmClock, &sm) != kSuccess ||
      library_->power(library_->device, &milliwatts) != kSuccess) {
    return "";
  }
  return fmt::format("SM clock {} MHz, {} W", sm, milliwatts / 1000);
}

}  // namespace drydock
