// What NVIDIA's driver says of a GPU, through the management library that comes with it. The
// library is looked for when it is asked: a machine without a driver has none. Not thread-safe.
#ifndef DRYDOCK_COMPUTE_SIM_MEASURE_DRIVER_STATE_H_
#define DRYDOCK_COMPUTE_SIM_MEASURE_DRIVER_STATE_H_

#include <string>

namespace drydock {

class DriverState {
 public:
  // `pci`: where the GPU sits, "0000:1b:00.0".
  explicit DriverState(const std::string& pci);
  DriverState(const DriverState&) = delete;
  DriverState& operator=(const DriverState&) = delete;
  ~DriverState();

  // Each "" if the library is missing or does not say.
  std::string Version() const;     // "580.65.06"
  std::string MostClocks() const;  // "SM clock at most 1980 MHz, memory 2619 MHz, limit 700 W"
  std::string Now() const;         // "SM clock 1755 MHz, 640 W"

 private:
  struct Library;
  Library* library_ = nullptr;  // owned; null: there is none
};

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_MEASURE_DRIVER_STATE_H_
