// A GPU that launches kernels and times them (measure_device.cu, compiled by nvcc). Not
// thread-safe.
#ifndef DRYDOCK_COMPUTE_SIM_MEASURE_MEASURE_DEVICE_H_
#define DRYDOCK_COMPUTE_SIM_MEASURE_MEASURE_DEVICE_H_

#include <memory>
#include <string>

#include "compute-sim/kernel/kernel.h"

namespace drydock {

class MeasureDevice {
 public:
  virtual ~MeasureDevice() = default;
  // Returns null and fills in *error if there is no such GPU. `cudnn`: the path of libcudnn.so.9,
  // an error if the library cannot be used; "": the loader searches it, and may find none.
  static std::unique_ptr<MeasureDevice> Open(int device, const std::string& cudnn,
                                             std::string* error);

  virtual std::string name() const = 0;
  virtual std::string driver() const = 0;
  virtual std::string libraries() const = 0;
  virtual std::string clocks() const = 0;  // the highest clocks that the driver states
  // "SM clock 1755 MHz, 640 W", as the driver reports now; "" if it reports nothing.
  virtual std::string StateNow() const = 0;
  // The reason why this device cannot measure attention; "" if it can.
  virtual std::string WhyNoAttention() const = 0;
  // The microseconds of a kernel; below 0 with *error if memory does not suffice or the library has
  // no such kernel. REQUIRES: IsMeasurable(kernel).
  virtual double Measure(const Kernel& kernel, std::string* error) = 0;
};

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_MEASURE_MEASURE_DEVICE_H_
