// Memory-bound kernels over rows x columns: their tables (measure_rows.cu, measure_columns.cu) and
// their operands.
#ifndef DRYDOCK_COMPUTE_SIM_MEASURE_ROWWISE_CUH_
#define DRYDOCK_COMPUTE_SIM_MEASURE_ROWWISE_CUH_

#include <array>

#include "compute-sim/measure/measure_launch.cuh"

namespace drydock {

struct RowStreams {
  const void* in[2];
  void* out;
  void* second_out;      // a transposed copy, or sums
  const int32_t* index;  // the source of each row, for kernels that move rows
  int64_t rows, columns;
  int64_t copies;  // of each row
  bool causal;

  template <class T>
  __device__ const T* In(int i, int64_t row) const {
    return static_cast<const T*>(in[i]) + row * columns;
  }
  template <class T>
  __device__ T* Out(int64_t row) const {
    return static_cast<T*>(out) + row * columns;
  }
};

struct RowKind {
  KernelKind kind;
  int64_t milli_bytes;    // 0: the traffic of the kernel, for kernels that move rows
  std::array<int, 2> in;  // bytes of an element in each operand
  int out;                // of the result
  bool causal;
  void (*launch)(const RowStreams& streams);
};

// Null if there is no kernel of the kind and traffic.
const RowKind* FindReducingKind(const Kernel& kernel);  // over each row
const RowKind* FindMovingKind(const Kernel& kernel);    // over columns, or none: rows that move

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_MEASURE_ROWWISE_CUH_
