// "Is a product of cuBLAS or cuBLASLt in the log as the program asked for it?"
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdint>

#include "capture/hackcuda/testing/pretended.h"

// Of the stand-ins.
extern "C" {
int cublasCreate_v2(void** handle);
int cublasSetMathMode(void* handle, int math);
int cublasSgemm_v2(void*, int, int, int, int, int, const void*, const void*, int, const void*, int,
                   const void*, void*, int);
int cublasLtMatmulDescCreate(void** descriptor, int compute, int scale_type);
int cublasLtMatmulDescSetAttribute(void*, int attribute, const void* value, size_t bytes);
int cublasLtMatmulDescGetAttribute(const void*, int attribute, void* value, size_t bytes, size_t*);
int cublasLtMatrixLayoutCreate(void** layout, int type, uint64_t rows, uint64_t columns, int64_t);
int cublasLtMatmul(void*, const void*, const void*, const void*, const void*, const void*,
                   const void*, const void*, const void*, const void*, void*, const void*,
                   const void*, void*, size_t, const void*);
extern const int hackcuda_version __attribute__((visibility("hidden")));
const int hackcuda_version = 12080;
}

namespace drydock::hackcuda {
namespace {

TEST(Product, OfCublas) {
  void* handle = nullptr;
  ASSERT_EQ(cublasCreate_v2(&handle), 0);
  cublasSetMathMode(handle, 3);  // TF32
  EXPECT_EQ(cublasSgemm_v2(handle, 1, 0, 8, 16, 32, nullptr, nullptr, 32, nullptr, 32, nullptr,
                           nullptr, 8),
            0);
  EXPECT_EQ(Pretended::Log(),
            "t0 product library=cublas m=8 n=16 k=32 batch=1 transpose_a=1 transpose_b=0 type_a=0 "
            "type_b=0 type_c=0 type_d=0 compute=77 epilogue=1 scales=0 stream=0\n");
}

TEST(Product, OfCublasLt) {
  void *descriptor = nullptr, *a = nullptr, *b = nullptr, *d = nullptr;
  ASSERT_EQ(cublasLtMatmulDescCreate(&descriptor, 68, 0), 0);
  const int transposed = 1, mxfp8 = 2;
  cublasLtMatmulDescSetAttribute(descriptor, 3, &transposed, sizeof transposed);
  cublasLtMatmulDescSetAttribute(descriptor, 31, &mxfp8, sizeof mxfp8);
  int read = 0;
  size_t written = 0;
  EXPECT_EQ(cublasLtMatmulDescGetAttribute(descriptor, 31, &read, sizeof read, &written), 0);
  EXPECT_EQ(read, 2);
  EXPECT_EQ(written, sizeof read);
  cublasLtMatrixLayoutCreate(&a, 28, 32, 8, 32);
  cublasLtMatrixLayoutCreate(&b, 28, 32, 16, 32);
  cublasLtMatrixLayoutCreate(&d, 14, 8, 16, 8);
  EXPECT_EQ(cublasLtMatmul(nullptr, descriptor, nullptr, nullptr, a, nullptr, b, nullptr, nullptr,
                           d, nullptr, d, nullptr, nullptr, 0, nullptr),
            0);
  const std::string log = Pretended::Log();
  EXPECT_EQ(log.substr(log.find("library=cublasLt")),
            "library=cublasLt m=8 n=16 k=32 batch=1 transpose_a=1 transpose_b=0 type_a=28 "
            "type_b=28 type_c=14 type_d=14 compute=68 epilogue=1 scales=2 stream=0\n");
}

}  // namespace
}  // namespace drydock::hackcuda
