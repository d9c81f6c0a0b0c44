// Brain floating point, for the scalar arguments of reductions. Round to nearest, ties to even.
#pragma once

#define __CUDA_BF16_TYPES_EXIST__

#include <stdint.h>
#include <string.h>

struct __nv_bfloat16 {
  uint16_t x;
  __nv_bfloat16() = default;
  __nv_bfloat16(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    const uint32_t odd = (bits >> 16) & 1;
    x = static_cast<uint16_t>((bits + 0x7fff + odd) >> 16);
  }
};
struct __nv_bfloat162 {
  __nv_bfloat16 x, y;
};

inline __nv_bfloat16 __float2bfloat16(float value) { return __nv_bfloat16(value); }
