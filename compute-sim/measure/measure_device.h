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
  // Null and *error if there is no such GPU. `cudnn`: the path of libcudnn.so.9, an error if it
  // cannot be used; "": wherever the loader finds it, if it does.
  static std::unique_ptr<MeasureDevice> Open(int device, const std::string& cudnn,
                                             std::string* error);

  virtual std::string name() const = 0;
  virtual std::string driver() const = 0;
  virtual std::string libraries() const = 0;
  virtual std::string clocks() const = 0;  // the highest it states
  // "SM clock 1755 MHz, 640 W", as the driver says now; "" if it does not.
  virtual std::string StateNow() const = 0;
  // Why it cannot measure attention; "" if it can.
  virtual std::string WhyNoAttention() const = 0;
  // Microseconds of an IsMeasurable kernel, or below 0 and *error: memory does not suffice, or the
  // library has no kernel.
  virtual double Measure(const Kernel& kernel, std::string* error) = 0;
};

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_MEASURE_MEASURE_DEVICE_H_
