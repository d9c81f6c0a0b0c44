// Matrix products as they enter the log. Sizes and transposes are those of column-major matrices,
// as cuBLAS has them.
#ifndef DRYDOCK_CAPTURE_HACKCUDA_PRODUCTS_PRODUCT_H_
#define DRYDOCK_CAPTURE_HACKCUDA_PRODUCTS_PRODUCT_H_

#include <cstdint>

namespace drydock::hackcuda {

// Compute types of cuBLAS.
inline constexpr int kComputeFp16 = 64, kComputeFp32 = 68, kComputeFp64 = 70, kComputeInt32 = 72,
                     kComputeTf32 = 77;

// cudaDataType by number: 0 fp32, 1 fp64, 2 fp16, 3 int8, 4 complex fp32, 5 complex fp64, 10 int32,
// 14 bf16, 28 e4m3, 29 e5m2, 33 e2m1.
struct Product {
  int64_t m = 0, n = 0, k = 0, batch = 1;
  int transpose_a = 0, transpose_b = 0;
  int type_a = 0, type_b = 0, type_c = 0, type_d = 0;
  int compute = 0;
  int epilogue = 1;  // cublasLtEpilogue_t; 1: none
  int scales = 0;    // cublasLtMatmulMatrixScale_t of A; 0: one for the matrix
};

void LogProduct(const char* library, const Product& product, const void* stream);

enum CublasStatus : int { kCublasSuccess = 0, kCublasInvalidValue = 7, kCublasNotSupported = 15 };

}  // namespace drydock::hackcuda

#endif  // DRYDOCK_CAPTURE_HACKCUDA_PRODUCTS_PRODUCT_H_
