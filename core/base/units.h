// Quantities with units. Each is one integer (or, for FLOPs, one double) in a fixed base unit, so
// arithmetic is exact and the same on every machine:
//   Time picoseconds, Bytes bytes, Bandwidth bits per second, FlopRate FLOP per second.
// Values in files carry their unit ("400 Gbps", "500 ns", "80 GB"); ParseXxx reads them.
// Decimal prefixes are powers of 1000, binary ones (KiB, MiB, GiB) powers of 1024.
#ifndef DRYDOCK_CORE_BASE_UNITS_H_
#define DRYDOCK_CORE_BASE_UNITS_H_

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace drydock {

// A point in simulated time, or a duration; the name of the variable says which.
class Time {
 public:
  constexpr Time() = default;
  static constexpr Time Ps(int64_t ps) { return Time(ps); }
  static constexpr Time Ns(int64_t ns) { return Time(ns * 1000); }
  static constexpr Time Us(int64_t us) { return Time(us * 1000000); }
  static constexpr Time Max() { return Time(INT64_MAX); }
  // Rounds to the nearest picosecond. For models that compute in floating point.
  static Time FromSeconds(double seconds);
  static Time FromUs(double us) { return FromSeconds(us * 1e-6); }

  constexpr int64_t ps() const { return ps_; }
  constexpr double seconds() const { return static_cast<double>(ps_) * 1e-12; }
  constexpr double us() const { return static_cast<double>(ps_) * 1e-6; }

  constexpr auto operator<=>(const Time&) const = default;
  constexpr Time operator+(Time o) const { return Time(ps_ + o.ps_); }
  constexpr Time operator-(Time o) const { return Time(ps_ - o.ps_); }
  constexpr Time operator*(int64_t k) const { return Time(ps_ * k); }
  constexpr Time& operator+=(Time o) {
    ps_ += o.ps_;
    return *this;
  }
  constexpr Time& operator-=(Time o) {
    ps_ -= o.ps_;
    return *this;
  }

 private:
  explicit constexpr Time(int64_t ps) : ps_(ps) {}
  int64_t ps_ = 0;
};

class Bytes {
 public:
  constexpr Bytes() = default;
  constexpr explicit Bytes(int64_t count) : count_(count) {}
  constexpr int64_t count() const { return count_; }
  constexpr auto operator<=>(const Bytes&) const = default;
  constexpr Bytes operator+(Bytes o) const { return Bytes(count_ + o.count_); }
  constexpr Bytes operator-(Bytes o) const { return Bytes(count_ - o.count_); }
  constexpr Bytes operator*(int64_t k) const { return Bytes(count_ * k); }
  constexpr Bytes operator/(int64_t k) const { return Bytes(count_ / k); }
  constexpr Bytes& operator+=(Bytes o) {
    count_ += o.count_;
    return *this;
  }
  constexpr Bytes& operator-=(Bytes o) {
    count_ -= o.count_;
    return *this;
  }

 private:
  int64_t count_ = 0;
};

class Bandwidth {
 public:
  constexpr Bandwidth() = default;
  static constexpr Bandwidth BitsPerSecond(int64_t v) { return Bandwidth(v); }
  static Bandwidth FromBytesPerSecond(double v);
  constexpr int64_t bits_per_second() const { return bps_; }
  constexpr double bytes_per_second() const { return static_cast<double>(bps_) / 8.0; }
  constexpr auto operator<=>(const Bandwidth&) const = default;

  // Returns how long `size` occupies a port of this rate, rounded up to a picosecond.
  // REQUIRES: the rate is above 0; the time is within the range of Time (106 days).
  Time TimeFor(Bytes size) const;

 private:
  explicit constexpr Bandwidth(int64_t bps) : bps_(bps) {}
  int64_t bps_ = 0;
};

class FlopRate {
 public:
  constexpr FlopRate() = default;
  constexpr explicit FlopRate(double flops_per_second) : value_(flops_per_second) {}
  constexpr double flops_per_second() const { return value_; }
  constexpr auto operator<=>(const FlopRate&) const = default;

 private:
  double value_ = 0;
};

// Parse "500 ns", "1.5 us", "4 GB", "64 KiB", "400 Gbps", "450 GB/s", "312 TFLOPS". The blank
// between number and unit is optional. The result is rounded to the base unit. A value that is
// negative, above 9e18 base units or rounds to 0 is an error. The error names what was expected and
// the nearest unit.
Result<Time> ParseTime(std::string_view text);
Result<Bytes> ParseBytes(std::string_view text);
Result<Bandwidth> ParseBandwidth(std::string_view text);
Result<FlopRate> ParseFlopRate(std::string_view text);
// Parses the length of a cable, "10 m" or "2 cm". Returns meters.
Result<double> ParseMeters(std::string_view text);

// Return text for messages: four significant digits and a fitting unit ("1.42 s", "786 us").
std::string ToString(Time time);
std::string ToString(Bytes bytes);
std::string ToString(Bandwidth bandwidth);
std::string ToString(FlopRate rate);

}  // namespace drydock

#endif  // DRYDOCK_CORE_BASE_UNITS_H_
