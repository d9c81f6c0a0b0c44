// 8-bit floating point: types only. Every value is 1.0, because the value of a scalar argument
// never decides a plan.
#pragma once

#define __CUDA_FP8_TYPES_EXIST__

#include "cuda_bf16.h"
#include "cuda_fp16.h"

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE };
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };

inline __nv_fp8_storage_t __nv_cvt_float_to_fp8(float, __nv_saturation_t,
                                                __nv_fp8_interpretation_t format) {
  return format == __NV_E4M3 ? 0x38 : 0x3c;
}

struct __nv_fp8_e4m3 {
  unsigned char __x;
  __nv_fp8_e4m3() = default;
  __nv_fp8_e4m3(float) : __x(0x38) {}
  explicit operator float() const { return 1; }
};
struct __nv_fp8_e5m2 {
  unsigned char __x;
  __nv_fp8_e5m2() = default;
  __nv_fp8_e5m2(float) : __x(0x3c) {}
  explicit operator float() const { return 1; }
};
