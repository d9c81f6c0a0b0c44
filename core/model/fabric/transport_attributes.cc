#include "core/model/fabric/transport_attributes.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "core/base/check.h"
#include "core/base/spelling.h"

namespace drydock {
namespace {

using Kind = TransportAttribute::Kind;

// The whole of `text` as a number.
template <typename Number>
std::optional<TransportValue> ReadNumber(const std::string& text) {
  Number number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

std::optional<TransportValue> ReadFinite(const std::string& text) {
  const std::optional<TransportValue> number = ReadNumber<double>(text);
  if (!number || !std::isfinite(std::get<double>(*number))) return std::nullopt;
  return number;
}

std::optional<TransportValue> ReadFlag(const std::string& text) {
  if (text != "true" && text != "false") return std::nullopt;
  return text == "true";
}

template <typename Quantity>
std::optional<TransportValue> ReadQuantity(const Result<Quantity>& quantity) {
  if (!quantity.ok()) return std::nullopt;
  return *quantity;
}

// `text` as a value of that kind, without a check of the range.
std::optional<TransportValue> Read(Kind kind, const std::string& text) {
  switch (kind) {
    case Kind::kNumber:
      return ReadFinite(text);
    case Kind::kInteger:
      return ReadNumber<int64_t>(text);
    case Kind::kCount:
      return ReadNumber<uint64_t>(text);
    case Kind::kFlag:
      return ReadFlag(text);
    case Kind::kTime:
      return ReadQuantity(ParseTime(text));
    case Kind::kRate:
      return ReadQuantity(ParseBandwidth(text));
    case Kind::kDerived:
      break;
  }
  CHECK_NOTE(false, "another key decides a derived attribute");
}

std::string WordsOf(Kind kind) {
  switch (kind) {
    case Kind::kNumber:
      return "a number";
    case Kind::kInteger:
    case Kind::kCount:
      return "a whole number";
    case Kind::kFlag:
      return "true or false";
    case Kind::kTime:
      return "a time such as '55 us'";
    case Kind::kRate:
      return "a rate such as '50 Mbps'";
    case Kind::kDerived:
      break;
  }
  CHECK_NOTE(false, "another key decides a derived attribute");
}

std::string RangeOf(const TransportAttribute& attribute) {
  if (attribute.min.empty() && attribute.max.empty()) return "";
  if (attribute.max.empty()) return fmt::format(", at least {}", attribute.min);
  if (attribute.min.empty()) return fmt::format(", at most {}", attribute.max);
  return fmt::format(", from {} to {}", attribute.min, attribute.max);
}

bool IsBelow(Kind kind, const TransportValue& value, const std::string& bound) {
  return !bound.empty() && value < *Read(kind, bound);
}

bool IsAbove(Kind kind, const TransportValue& value, const std::string& bound) {
  return !bound.empty() && *Read(kind, bound) < value;
}

// REQUIRES: each setting is valid by itself.
Status CheckOrder(const TransportSettings& settings) {
  constexpr const char* kOrdered[][2] = {{"FabricSwitch::EcnMin", "FabricSwitch::EcnMax"},
                                         {"Swift::FlowMin", "Swift::FlowMax"},
                                         {"Timely::LowRoundTrip", "Timely::HighRoundTrip"}};
  for (const auto& [low, high] : kOrdered) {
    if (*TransportValueOf(high, settings) < *TransportValueOf(low, settings)) {
      return Error(fmt::format("attribute '{}' must not exceed '{}'", low, high));
    }
  }
  return OkStatus();
}

}  // namespace

const TransportAttribute* FindTransportAttribute(const std::string& name) {
  for (const TransportAttribute& each : TransportAttributes()) {
    if (each.name == name) return &each;
  }
  return nullptr;
}

Result<TransportValue> ParseTransportValue(const TransportAttribute& attribute,
                                           const std::string& text) {
  const std::optional<TransportValue> value = Read(attribute.kind, text);
  if (!value || IsBelow(attribute.kind, *value, attribute.min) ||
      IsAbove(attribute.kind, *value, attribute.max)) {
    return Error(fmt::format("attribute '{}' is '{}'; it must be {}{}", attribute.name, text,
                             WordsOf(attribute.kind), RangeOf(attribute)));
  }
  return *value;
}

Status CheckTransportAttributeName(const std::string& name) {
  const TransportAttribute* found = FindTransportAttribute(name);
  if (found != nullptr && found->kind == Kind::kDerived) {
    return Error(
        fmt::format("attribute '{}' cannot be set: {} decides it", name, found->derived_from));
  }
  if (found != nullptr) return OkStatus();
  std::vector<std::string> names;
  for (const TransportAttribute& each : TransportAttributes()) {
    if (each.kind != Kind::kDerived) names.push_back(each.name);
  }
  return Error(
      fmt::format("the packet network has no attribute '{}'{}", name, DidYouMean(name, names)));
}

Result<TransportValue> TransportValueOf(const std::string& name,
                                        const TransportSettings& settings) {
  const TransportAttribute& attribute = *FindTransportAttribute(name);
  const std::string* text = &attribute.default_value;
  for (const auto& [given, value] : settings) {
    if (given == name) text = &value;
  }
  return ParseTransportValue(attribute, *text);
}

Status CheckTransportAttributes(const TransportSettings& settings) {
  for (const auto& [name, text] : settings) {
    RETURN_IF_ERROR(CheckTransportAttributeName(name));
    RETURN_IF_ERROR(ParseTransportValue(*FindTransportAttribute(name), text));
  }
  return CheckOrder(settings);
}

}  // namespace drydock
