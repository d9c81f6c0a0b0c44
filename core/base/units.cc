#include "core/base/units.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <span>
#include <vector>

#include "core/base/check.h"
#include "core/base/spelling.h"

namespace drydock {
namespace {

struct Unit {
  std::string_view name;
  double scale;  // to the base unit
};

constexpr Unit kTimeUnits[] = {{"ps", 1}, {"ns", 1e3}, {"us", 1e6}, {"ms", 1e9}, {"s", 1e12}};
constexpr Unit kByteUnits[] = {{"B", 1},           {"KB", 1e3},          {"MB", 1e6},
                               {"GB", 1e9},        {"TB", 1e12},         {"KiB", 1024.0},
                               {"MiB", 1048576.0}, {"GiB", 1073741824.0}};
constexpr Unit kBandwidthUnits[] = {{"bps", 1},     {"Kbps", 1e3}, {"Mbps", 1e6}, {"Gbps", 1e9},
                                    {"Tbps", 1e12}, {"B/s", 8},    {"KB/s", 8e3}, {"MB/s", 8e6},
                                    {"GB/s", 8e9},  {"TB/s", 8e12}};
constexpr Unit kFlopUnits[] = {{"GFLOPS", 1e9}, {"TFLOPS", 1e12}, {"PFLOPS", 1e15}, {"TOPS", 1e12}};
constexpr Unit kMeterUnits[] = {{"m", 1}, {"cm", 1e-2}, {"km", 1e3}};

std::string Names(std::span<const Unit> units) {
  std::string out;
  for (const Unit& unit : units) out += fmt::format("{}{}", out.empty() ? "" : ", ", unit.name);
  return out;
}

std::string_view Trim(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

// Parses "<number> <unit>". Returns the value in base units, finite and not negative.
Result<double> ParseQuantity(std::string_view text, std::string_view what,
                             std::span<const Unit> units, std::string_view example) {
  const std::string_view trimmed = Trim(text);
  double number = 0;
  const auto [end, error] =
      std::from_chars(trimmed.data(), trimmed.data() + trimmed.size(), number);
  if (error == std::errc::result_out_of_range) {
    return Error(fmt::format("'{}' is too large or too small", text));
  }
  if (error != std::errc() || !std::isfinite(number)) {
    return Error(fmt::format("'{}' is not a {}; write a number and a unit, as in '{}'", text, what,
                             example));
  }
  const std::string_view unit = Trim(trimmed.substr(static_cast<size_t>(end - trimmed.data())));
  if (unit.empty()) {
    return Error(fmt::format("'{}' has no unit; valid units are {}, as in '{}'", text, Names(units),
                             example));
  }
  for (const Unit& candidate : units) {
    if (candidate.name != unit) continue;
    const double value = number * candidate.scale;
    if (value < 0) return Error(fmt::format("'{}' is negative", text));
    if (!std::isfinite(value)) return Error(fmt::format("'{}' is too large", text));
    return value;
  }
  std::vector<std::string> names;
  for (const Unit& candidate : units) names.emplace_back(candidate.name);
  return Error(fmt::format("'{}' is not a {} unit{}; valid units are {}", unit, what,
                           DidYouMean(unit, names), Names(units)));
}

Result<int64_t> ParseInteger(std::string_view text, std::string_view what,
                             std::span<const Unit> units, std::string_view example) {
  ASSIGN_OR_RETURN(const double value, ParseQuantity(text, what, units, example));
  if (value > 9.0e18) return Error(fmt::format("'{}' is too large", text));
  const auto rounded = static_cast<int64_t>(std::llround(value));
  if (rounded == 0 && value > 0) {
    return Error(fmt::format("'{}' is too small; the minimum is 1 {}", text, units.front().name));
  }
  return rounded;
}

std::string WithPrefix(double value, std::span<const Unit> units) {
  const Unit* best = &units.front();
  for (const Unit& unit : units) {
    if (std::abs(value) >= unit.scale * 0.99995 && unit.scale > best->scale) best = &unit;
  }
  const double shown = value / best->scale;
  if (std::abs(shown) < 9999.5) return fmt::format("{:.4g} {}", shown, best->name);
  return fmt::format("{:.0f} {}", shown, best->name);
}

}  // namespace

Time Time::FromSeconds(double seconds) {
  CHECK(std::isfinite(seconds) && std::abs(seconds) < 9.0e6);
  return Time(std::llround(seconds * 1e12));
}

Bandwidth Bandwidth::FromBytesPerSecond(double v) {
  CHECK(std::isfinite(v) && v >= 0 && v <= 1.125e18);
  return Bandwidth(std::llround(v * 8));
}

Time Bandwidth::TimeFor(Bytes size) const {
  CHECK(bps_ > 0);
  const auto bits = static_cast<__int128>(size.count()) * 8;
  const __int128 ps = (bits * 1000000000000 + bps_ - 1) / bps_;
  CHECK_NOTE(ps <= INT64_MAX, "a transfer takes more than 106 days");
  return Time::Ps(static_cast<int64_t>(ps));
}

Result<Time> ParseTime(std::string_view text) {
  ASSIGN_OR_RETURN(const int64_t v, ParseInteger(text, "time", kTimeUnits, "500 ns"));
  return Time::Ps(v);
}

Result<Bytes> ParseBytes(std::string_view text) {
  ASSIGN_OR_RETURN(const int64_t v, ParseInteger(text, "size", kByteUnits, "80 GB"));
  return Bytes(v);
}

Result<Bandwidth> ParseBandwidth(std::string_view text) {
  ASSIGN_OR_RETURN(const int64_t v, ParseInteger(text, "bandwidth", kBandwidthUnits, "400 Gbps"));
  return Bandwidth::BitsPerSecond(v);
}

Result<FlopRate> ParseFlopRate(std::string_view text) {
  ASSIGN_OR_RETURN(const double v, ParseQuantity(text, "FLOP rate", kFlopUnits, "312 TFLOPS"));
  return FlopRate(v);
}

Result<double> ParseMeters(std::string_view text) {
  ASSIGN_OR_RETURN(const double v, ParseQuantity(text, "length", kMeterUnits, "10 m"));
  return v;
}

std::string ToString(Time time) { return WithPrefix(static_cast<double>(time.ps()), kTimeUnits); }

std::string ToString(Bytes bytes) {
  constexpr Unit kDecimal[] = {{"B", 1}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}};
  return WithPrefix(static_cast<double>(bytes.count()), kDecimal);
}

std::string ToString(Bandwidth bandwidth) {
  constexpr Unit kBits[] = {
      {"bps", 1}, {"Kbps", 1e3}, {"Mbps", 1e6}, {"Gbps", 1e9}, {"Tbps", 1e12}};
  return WithPrefix(static_cast<double>(bandwidth.bits_per_second()), kBits);
}

std::string ToString(FlopRate rate) {
  constexpr Unit kRates[] = {{"FLOPS", 1}, {"GFLOPS", 1e9}, {"TFLOPS", 1e12}, {"PFLOPS", 1e15}};
  return WithPrefix(rate.flops_per_second(), kRates);
}

}  // namespace drydock
