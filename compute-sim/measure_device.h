// A GPU that launches kernels and times them. Plain types only: nvcc compiles the other side
// (measure_device.cu). Not thread-safe.
#ifndef DRYDOCK_COMPUTE_SIM_MEASURE_DEVICE_H_
#define DRYDOCK_COMPUTE_SIM_MEASURE_DEVICE_H_

#include <cstdint>
#include <memory>
#include <string>

namespace drydock {

enum class MeasuredType : uint8_t { kFp16, kBf16, kFp8 };
enum class MeasuredKind : uint8_t { kGemm, kGemmAccumulate, kAdd, kCopy, kFill };

struct Measurement {
  MeasuredKind kind = MeasuredKind::kGemm;
  MeasuredType type = MeasuredType::kBf16;
  int64_t batch = 1, m = 0, n = 0, k = 0;  // products: C[m,n] = A[m,k] B[k,n], B stored as n x k
  int64_t elements = 0;                    // the others
};

class MeasureDevice {
 public:
  virtual ~MeasureDevice() = default;
  // Null and *error if there is no such GPU.
  static std::unique_ptr<MeasureDevice> Open(int device, std::string* error);

  virtual std::string name() const = 0;
  virtual std::string driver() const = 0;
  virtual std::string libraries() const = 0;
  // Microseconds, or below 0 and *error: memory does not suffice, or the library has no kernel.
  virtual double Measure(const Measurement& what, std::string* error) = 0;
};

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_MEASURE_DEVICE_H_
