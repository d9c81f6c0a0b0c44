// The state of a GPU as NVIDIA's driver reports it, through the driver's management library. The
// library is opened at run time: a machine without a driver has none. Not thread-safe.
#ifndef DRYDOCK_COMPUTE_SIM_MEASURE_DRIVER_STATE_H_
#define DRYDOCK_COMPUTE_SIM_MEASURE_DRIVER_STATE_H_

#include <string>

namespace drydock {

class DriverState {
 public:
  // `pci`: the PCI address of the GPU, "0000:1b:00.0".
  explicit DriverState(const std::string& pci);
  DriverState(const DriverState&) = delete;
  DriverState& operator=(const DriverState&) = delete;
  ~DriverState();

  // Each returns "" if the library is missing or reports nothing.
  std::string Version() const;    // "580.65.06"
  std::string MaxClocks() const;  // "SM clock at most 1980 MHz, memory 2619 MHz, limit 700 W"
  std::string Now() const;        // "SM clock 1755 MHz, 640 W"

 private:
  struct Library;
  Library* library_ = nullptr;  // owned; null if there is none
};

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_MEASURE_DRIVER_STATE_H_
