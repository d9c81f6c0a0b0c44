// libcublas: a product is an entry of the log.
#include <cstddef>
#include <cstdint>

#include "capture/hackcuda/device/exports.h"
#include "capture/hackcuda/products/product.h"

namespace drydock::hackcuda {
namespace {

constexpr int kFp32 = 0, kFp64 = 1, kFp16 = 2;
constexpr int kComplex32 = 4, kComplex64 = 5;
constexpr int kTf32Math = 3;  // CUBLAS_TF32_TENSOR_OP_MATH, of the low bits

struct Handle {
  void* stream = nullptr;
  int math = 0, pointers = 0, atomics = 0, sm_count = 0;
};
Handle* Of(void* handle) { return static_cast<Handle*>(handle); }

int Run(void* handle, const Product& product) {
  LogProduct("cublas", product, Of(handle)->stream);
  return kCublasSuccess;
}

// fp32 products run on tensor cores if the program allows TF32.
int ComputeFp32(void* handle) {
  return (Of(handle)->math & 0xf) == kTf32Math ? kComputeTf32 : kComputeFp32;
}

Product Same(int type, int compute, int transpose_a, int transpose_b, int64_t m, int64_t n,
             int64_t k, int64_t batch) {
  return {m, n, k, batch, transpose_a, transpose_b, type, type, type, type, compute};
}

}  // namespace

HACKCUDA_EXPORT int cublasCreate_v2(void** handle) {
  *handle = new Handle;
  return kCublasSuccess;
}
HACKCUDA_EXPORT int cublasDestroy_v2(void* handle) {
  delete Of(handle);
  return kCublasSuccess;
}
HACKCUDA_EXPORT int cublasSetStream_v2(void* handle, void* stream) {
  Of(handle)->stream = stream;
  return kCublasSuccess;
}
HACKCUDA_EXPORT int cublasGetStream_v2(void* handle, void** stream) {
  *stream = Of(handle)->stream;
  return kCublasSuccess;
}
HACKCUDA_EXPORT int cublasSetWorkspace_v2(void*, void*, size_t) { return kCublasSuccess; }
HACKCUDA_EXPORT int cublasSetMathMode(void* handle, int math) {
  Of(handle)->math = math;
  return kCublasSuccess;
}
HACKCUDA_EXPORT int cublasGetMathMode(void* handle, int* math) {
  *math = Of(handle)->math;
  return kCublasSuccess;
}
HACKCUDA_EXPORT int cublasSetPointerMode_v2(void* handle, int mode) {
  Of(handle)->pointers = mode;
  return kCublasSuccess;
}
HACKCUDA_EXPORT int cublasGetPointerMode_v2(void* handle, int* mode) {
  *mode = Of(handle)->pointers;
  return kCublasSuccess;
}
HACKCUDA_EXPORT int cublasSetAtomicsMode(void* handle, int mode) {
  Of(handle)->atomics = mode;
  return kCublasSuccess;
}
HACKCUDA_EXPORT int cublasSetSmCountTarget(void* handle, int count) {
  Of(handle)->sm_count = count;
  return kCublasSuccess;
}
HACKCUDA_EXPORT int cublasGetSmCountTarget(void* handle, int* count) {
  *count = Of(handle)->sm_count;
  return kCublasSuccess;
}
HACKCUDA_EXPORT int cublasGetVersion_v2(void*, int* version) {
  *version = hackcuda_version;
  return kCublasSuccess;
}
HACKCUDA_EXPORT int cublasGetProperty(int which, int* value) {
  const int parts[] = {hackcuda_version / 10000, hackcuda_version / 100 % 100,
                       hackcuda_version % 100};
  if (which < 0 || which > 2) return kCublasInvalidValue;
  *value = parts[which];
  return kCublasSuccess;
}
HACKCUDA_EXPORT const char* cublasGetStatusString(int status) {
  return status == kCublasSuccess        ? "success"
         : status == kCublasNotSupported ? "a capture does not know this function"
                                         : "invalid value";
}
HACKCUDA_EXPORT const char* cublasGetStatusName(int status) {
  return status == kCublasSuccess        ? "CUBLAS_STATUS_SUCCESS"
         : status == kCublasNotSupported ? "CUBLAS_STATUS_NOT_SUPPORTED"
                                         : "CUBLAS_STATUS_INVALID_VALUE";
}

HACKCUDA_EXPORT int cublasSgemm_v2(void* handle, int ta, int tb, int m, int n, int k, const void*,
                                   const void*, int, const void*, int, const void*, void*, int) {
  return Run(handle, Same(kFp32, ComputeFp32(handle), ta, tb, m, n, k, 1));
}
HACKCUDA_EXPORT int cublasDgemm_v2(void* handle, int ta, int tb, int m, int n, int k, const void*,
                                   const void*, int, const void*, int, const void*, void*, int) {
  return Run(handle, Same(kFp64, kComputeFp64, ta, tb, m, n, k, 1));
}
HACKCUDA_EXPORT int cublasHgemm(void* handle, int ta, int tb, int m, int n, int k, const void*,
                                const void*, int, const void*, int, const void*, void*, int) {
  return Run(handle, Same(kFp16, kComputeFp16, ta, tb, m, n, k, 1));
}
HACKCUDA_EXPORT int cublasSgemmStridedBatched(void* handle, int ta, int tb, int m, int n, int k,
                                              const void*, const void*, int, long long, const void*,
                                              int, long long, const void*, void*, int, long long,
                                              int batch) {
  return Run(handle, Same(kFp32, ComputeFp32(handle), ta, tb, m, n, k, batch));
}
HACKCUDA_EXPORT int cublasDgemmStridedBatched(void* handle, int ta, int tb, int m, int n, int k,
                                              const void*, const void*, int, long long, const void*,
                                              int, long long, const void*, void*, int, long long,
                                              int batch) {
  return Run(handle, Same(kFp64, kComputeFp64, ta, tb, m, n, k, batch));
}
HACKCUDA_EXPORT int cublasCgemm_v2(void* handle, int ta, int tb, int m, int n, int k, const void*,
                                   const void*, int, const void*, int, const void*, void*, int) {
  return Run(handle, Same(kComplex32, ComputeFp32(handle), ta, tb, m, n, k, 1));
}
HACKCUDA_EXPORT int cublasZgemm_v2(void* handle, int ta, int tb, int m, int n, int k, const void*,
                                   const void*, int, const void*, int, const void*, void*, int) {
  return Run(handle, Same(kComplex64, kComputeFp64, ta, tb, m, n, k, 1));
}
HACKCUDA_EXPORT int cublasCgemmStridedBatched(void* handle, int ta, int tb, int m, int n, int k,
                                              const void*, const void*, int, long long, const void*,
                                              int, long long, const void*, void*, int, long long,
                                              int batch) {
  return Run(handle, Same(kComplex32, ComputeFp32(handle), ta, tb, m, n, k, batch));
}
HACKCUDA_EXPORT int cublasZgemmStridedBatched(void* handle, int ta, int tb, int m, int n, int k,
                                              const void*, const void*, int, long long, const void*,
                                              int, long long, const void*, void*, int, long long,
                                              int batch) {
  return Run(handle, Same(kComplex64, kComputeFp64, ta, tb, m, n, k, batch));
}
HACKCUDA_EXPORT int cublasHgemmStridedBatched(void* handle, int ta, int tb, int m, int n, int k,
                                              const void*, const void*, int, long long, const void*,
                                              int, long long, const void*, void*, int, long long,
                                              int batch) {
  return Run(handle, Same(kFp16, kComputeFp16, ta, tb, m, n, k, batch));
}
HACKCUDA_EXPORT int cublasSgemmEx(void* handle, int ta, int tb, int m, int n, int k, const void*,
                                  const void*, int type_a, int, const void*, int type_b, int,
                                  const void*, void*, int type_c, int) {
  return Run(handle, {m, n, k, 1, ta, tb, type_a, type_b, type_c, type_c, ComputeFp32(handle)});
}
HACKCUDA_EXPORT int cublasGemmEx(void* handle, int ta, int tb, int m, int n, int k, const void*,
                                 const void*, int type_a, int, const void*, int type_b, int,
                                 const void*, void*, int type_c, int, int compute, int) {
  return Run(handle, {m, n, k, 1, ta, tb, type_a, type_b, type_c, type_c, compute});
}
HACKCUDA_EXPORT int cublasGemmStridedBatchedEx(void* handle, int ta, int tb, int m, int n, int k,
                                               const void*, const void*, int type_a, int, long long,
                                               const void*, int type_b, int, long long, const void*,
                                               void*, int type_c, int, long long, int batch,
                                               int compute, int) {
  return Run(handle, {m, n, k, batch, ta, tb, type_a, type_b, type_c, type_c, compute});
}
HACKCUDA_EXPORT int cublasGemmBatchedEx(void* handle, int ta, int tb, int m, int n, int k,
                                        const void*, const void* const*, int type_a, int,
                                        const void* const*, int type_b, int, const void*,
                                        void* const*, int type_c, int, int batch, int compute,
                                        int) {
  return Run(handle, {m, n, k, batch, ta, tb, type_a, type_b, type_c, type_c, compute});
}
HACKCUDA_EXPORT int cublasSgemmBatched(void* handle, int ta, int tb, int m, int n, int k,
                                       const void*, const void* const*, int, const void* const*,
                                       int, const void*, void* const*, int, int batch) {
  return Run(handle, Same(kFp32, ComputeFp32(handle), ta, tb, m, n, k, batch));
}
HACKCUDA_EXPORT int cublasDgemmBatched(void* handle, int ta, int tb, int m, int n, int k,
                                       const void*, const void* const*, int, const void* const*,
                                       int, const void*, void* const*, int, int batch) {
  return Run(handle, Same(kFp64, kComputeFp64, ta, tb, m, n, k, batch));
}
// Groups of products of their own sizes; each group is a product of its own.
HACKCUDA_EXPORT int cublasGemmGroupedBatchedEx(void* handle, const int* ta, const int* tb,
                                               const int* m, const int* n, const int* k,
                                               const void*, const void* const*, int type_a,
                                               const int*, const void* const*, int type_b,
                                               const int*, const void*, void* const*, int type_c,
                                               const int*, int groups, const int* group_sizes,
                                               int compute) {
  for (int i = 0; i < groups; ++i) {
    Run(handle,
        {m[i], n[i], k[i], group_sizes[i], ta[i], tb[i], type_a, type_b, type_c, type_c, compute});
  }
  return kCublasSuccess;
}
HACKCUDA_EXPORT int cublasSgemmGroupedBatched(void* handle, const int* ta, const int* tb,
                                              const int* m, const int* n, const int* k,
                                              const float*, const float* const*, const int*,
                                              const float* const*, const int*, const float*,
                                              float* const*, const int*, int groups,
                                              const int* group_sizes) {
  for (int i = 0; i < groups; ++i) {
    Run(handle, Same(kFp32, ComputeFp32(handle), ta[i], tb[i], m[i], n[i], k[i], group_sizes[i]));
  }
  return kCublasSuccess;
}
// A matrix by a vector, and a sum of products of two vectors, are products with extents of one.
HACKCUDA_EXPORT int cublasSgemv_v2(void* handle, int t, int m, int n, const void*, const void*, int,
                                   const void*, int, const void*, void*, int) {
  return Run(handle, Same(kFp32, kComputeFp32, t, 0, t != 0 ? n : m, 1, t != 0 ? m : n, 1));
}
HACKCUDA_EXPORT int cublasDgemv_v2(void* handle, int t, int m, int n, const void*, const void*, int,
                                   const void*, int, const void*, void*, int) {
  return Run(handle, Same(kFp64, kComputeFp64, t, 0, t != 0 ? n : m, 1, t != 0 ? m : n, 1));
}
HACKCUDA_EXPORT int cublasDdot_v2(void* handle, int n, const void*, int, const void*, int, void*) {
  return Run(handle, Same(kFp64, kComputeFp64, 1, 0, 1, 1, n, 1));
}
HACKCUDA_EXPORT int cublasSdot_v2(void* handle, int n, const void*, int, const void*, int, void*) {
  return Run(handle, Same(kFp32, kComputeFp32, 1, 0, 1, 1, n, 1));
}
HACKCUDA_EXPORT int cublasDotEx(void* handle, int n, const void*, int type_a, int, const void*,
                                int type_b, int, void*, int type_c, int) {
  return Run(handle, {1, 1, n, 1, 1, 0, type_a, type_b, type_c, type_c, kComputeFp32});
}

}  // namespace drydock::hackcuda
