// Half precision, for the scalar arguments of reductions. Conversions truncate, because the value
// never decides a plan.
#pragma once

#include <stdint.h>
#include <string.h>

struct __half_raw {
  unsigned short x;
};
struct __half2_raw {
  unsigned short x, y;
};

struct __half {
  uint16_t x;
  __half() = default;
  __half(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    const uint32_t sign = (bits >> 16) & 0x8000;
    const int exponent = static_cast<int>((bits >> 23) & 255) - 112;
    const uint32_t mantissa = (bits & 0x7fffff) >> 13;
    if (exponent <= 0) {
      x = static_cast<uint16_t>(sign);
    } else if (exponent >= 31) {
      x = static_cast<uint16_t>(sign | 0x7c00);
    } else {
      x = static_cast<uint16_t>(sign | (static_cast<uint32_t>(exponent) << 10) | mantissa);
    }
  }
  __half(double value) : __half(static_cast<float>(value)) {}
};
struct __half2 {
  __half x, y;
};
typedef __half half;
typedef __half2 half2;

inline __half __float2half(float value) { return __half(value); }
