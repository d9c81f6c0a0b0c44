#include "core/schema/site/cost_file.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

namespace drydock {
namespace {

constexpr double kMaxAmount = 1e9;
constexpr double kMaxPartWatts = 1e6;
constexpr double kMaxPue = 10;
constexpr double kMinYears = 0.1, kMaxYears = 50;

// Splits "2.5 USD/h" into 2.5 and "USD/h"; nothing if it does not begin with a number.
std::optional<double> NumberAndRest(std::string_view text, std::string_view* rest) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || !std::isfinite(number)) return std::nullopt;
  *rest = text.substr(static_cast<size_t>(end - text.data()));
  while (rest->starts_with(' ')) rest->remove_prefix(1);
  return number;
}

bool IsCurrency(std::string_view text) {
  if (text.size() != 3) return false;
  for (const char c : text) {
    if (c < 'A' || c > 'Z') return false;
  }
  return true;
}

bool IsWithin(double value, double low, double high) { return value >= low && value <= high; }

class CostReader {
 public:
  CostReader(const PricedParts& parts, Cost* cost, std::vector<std::string>* notes,
             Diagnostics* diagnostics)
      : parts_(parts), cost_(cost), notes_(notes), diagnostics_(diagnostics) {}

  void Read(const YamlNode& node) {
    YamlReader reader(node, "cost", diagnostics_);
    const YamlNode* rent = reader.Take("rent", false);
    const YamlNode* capital = reader.Take("capital", false);
    const YamlNode* power = reader.Take("power", false);
    const YamlNode* electricity = reader.Take("electricity", false);
    if (rent != nullptr) ReadRent(*rent);
    if (capital != nullptr) ReadCapital(*capital);
    if (power != nullptr) ReadPower(*power);
    if (electricity != nullptr) {
      cost_->electricity.emplace();
      ReadStated(*electricity, "electricity", Kind::kPerKwh, &*cost_->electricity);
    }
    reader.Finish();
    if (rent != nullptr && capital != nullptr) {
      reader.Fail("capital", "a cluster is rented or bought: leave out 'rent' or 'capital'");
    }
    if (electricity != nullptr && power == nullptr) {
      reader.Fail("electricity", "'electricity' needs 'power', what the parts draw");
    }
    if (rent == nullptr && capital == nullptr && power == nullptr && electricity == nullptr &&
        node.kind == YamlNode::Kind::kMap) {
      diagnostics_->Add(
          node.ErrorHere("'cost' states nothing; it has 'rent' or 'capital', "
                         "'power' and 'electricity'"));
    }
  }

 private:
  enum class Kind : uint8_t { kAmount, kPerHour, kPerKwh, kWatts, kYears, kPue };

  // An amount of money, "<number> <currency><suffix>".
  bool ParseAmount(const std::string& text, const YamlNode& node, std::string_view suffix,
                   const char* example, double* amount) {
    std::string_view rest;
    const std::optional<double> number = NumberAndRest(text, &rest);
    if (!number || !rest.ends_with(suffix) ||
        !IsCurrency(rest.substr(0, rest.size() - suffix.size()))) {
      diagnostics_->Add(
          node.ErrorHere(fmt::format("expected an amount like '{}', found '{}'", example, text)));
      return false;
    }
    const std::string currency(rest.substr(0, 3));
    if (cost_->currency.empty()) cost_->currency = currency;
    if (currency != cost_->currency) {
      diagnostics_->Add(node.ErrorHere(
          fmt::format("'{}' is in {}, and an amount above in {}; state all amounts in one currency",
                      text, currency, cost_->currency)));
      return false;
    }
    if (!IsWithin(*number, 0, kMaxAmount)) {
      diagnostics_->Add(node.ErrorHere(fmt::format("'{}' is not from 0 to 1e9", text)));
      return false;
    }
    *amount = *number;
    return true;
  }

  bool ParseValue(const std::string& text, const YamlNode& node, Kind kind, double* value) {
    switch (kind) {
      case Kind::kAmount:
        return ParseAmount(text, node, "", "250000 USD", value);
      case Kind::kPerHour:
        return ParseAmount(text, node, "/h", "2.5 USD/h", value);
      case Kind::kPerKwh:
        return ParseAmount(text, node, "/kWh", "0.08 USD/kWh", value);
      case Kind::kWatts:
        return ParseNumber(text, node, "W", "a power like '700 W', up to 1 MW", 0, kMaxPartWatts,
                           value);
      case Kind::kYears:
        return ParseNumber(text, node, "", "a number of years from 0.1 to 50", kMinYears, kMaxYears,
                           value);
      case Kind::kPue:
        return ParseNumber(text, node, "",
                           "the power at the meter over that of the parts, from 1 to 10", 1,
                           kMaxPue, value);
    }
    return false;
  }

  bool ParseNumber(const std::string& text, const YamlNode& node, std::string_view unit,
                   const char* expected, double low, double high, double* value) {
    std::string_view rest;
    const std::optional<double> number = NumberAndRest(text, &rest);
    if (number && rest == unit && IsWithin(*number, low, high)) {
      *value = *number;
      return true;
    }
    diagnostics_->Add(node.ErrorHere(fmt::format("expected {}, found '{}'", expected, text)));
    return false;
  }

  // {value: …, source: …}
  void ReadStated(const YamlNode& node, const std::string& name, Kind kind, StatedValue* out) {
    if (node.kind != YamlNode::Kind::kMap) {
      return diagnostics_->Add(node.ErrorHere(
          fmt::format("'{0}' has a value and says where it comes from: write '{0}: {{value: …, "
                      "source: …}}'",
                      name)));
    }
    YamlReader reader(node, name, diagnostics_);
    if (const YamlNode* value = reader.Take("value", true)) {
      const Result<std::string> text = AsString(*value);
      if (!text.ok()) {
        diagnostics_->Add(text.error());
      } else {
        ParseValue(*text, *value, kind, &out->value);
      }
    }
    reader.Read("source", &out->source);
    if (reader.Has("source") && out->source.empty()) {
      reader.Fail("source", "'source' is empty; say where the value comes from");
    }
    reader.Finish();
  }

  void ReadRequired(YamlReader* reader, const char* key, Kind kind, StatedValue* out) {
    if (const YamlNode* node = reader->Take(key, true)) ReadStated(*node, key, kind, out);
  }

  // Of a part that the cluster has or has not.
  void ReadPart(YamlReader* reader, const char* section, const char* key, bool has, Kind kind,
                std::optional<StatedValue>* out) {
    const YamlNode* node = reader->Take(key, has);
    if (node == nullptr) return;
    StatedValue value;
    ReadStated(*node, key, kind, &value);
    if (has) {
      *out = value;
    } else {
      notes_->push_back(fmt::format("cost.{}.{} has no effect: the fabric has none", section, key));
    }
  }

  void ReadRent(const YamlNode& node) {
    YamlReader reader(node, "rent", diagnostics_);
    const YamlNode* gpu = reader.Take("gpu", false);
    const YamlNode* host = reader.Take("host", false);
    if (gpu != nullptr) ReadStated(*gpu, "gpu", Kind::kPerHour, &cost_->gpu_hour.emplace());
    if (host != nullptr) ReadStated(*host, "host", Kind::kPerHour, &cost_->host_hour.emplace());
    reader.Finish();
    if ((gpu == nullptr) == (host == nullptr) && node.kind == YamlNode::Kind::kMap) {
      reader.Fail("host", "'rent' is the price of a 'gpu' or of a 'host', one of them");
    }
  }

  void ReadCapital(const YamlNode& node) {
    YamlReader reader(node, "capital", diagnostics_);
    Cost::Capital& capital = cost_->capital.emplace();
    ReadRequired(&reader, "host", Kind::kAmount, &capital.host);
    ReadPart(&reader, "capital", "switch", parts_.switches, Kind::kAmount, &capital.fabric_switch);
    ReadPart(&reader, "capital", "optics", parts_.cables, Kind::kAmount, &capital.optics);
    ReadRequired(&reader, "years", Kind::kYears, &capital.years);
    reader.Finish();
  }

  void ReadPower(const YamlNode& node) {
    YamlReader reader(node, "power", diagnostics_);
    Cost::Power& power = cost_->power.emplace();
    if (const YamlNode* gpu = reader.Take("gpu", parts_.gpu_watts == 0)) {
      ReadStated(*gpu, "gpu", Kind::kWatts, &power.gpu);
    } else {
      power.gpu = {static_cast<double>(parts_.gpu_watts), parts_.gpu_watts_source};
    }
    ReadRequired(&reader, "host", Kind::kWatts, &power.host);
    ReadPart(&reader, "power", "switch", parts_.switches, Kind::kWatts, &power.fabric_switch);
    ReadPart(&reader, "power", "optics", parts_.cables, Kind::kWatts, &power.optics);
    ReadRequired(&reader, "pue", Kind::kPue, &power.pue);
    reader.Finish();
  }

  const PricedParts& parts_;
  Cost* cost_;
  std::vector<std::string>* notes_;
  Diagnostics* diagnostics_;
};

bool IsStated(const StatedValue& value, double low, double high) {
  return IsWithin(value.value, low, high) && !value.source.empty();
}

// Of a part that may be absent.
bool IsPart(const std::optional<StatedValue>& value, bool has, double high) {
  return value.has_value() == has && (!has || IsStated(*value, 0, high));
}

bool IsAmount(const std::optional<StatedValue>& value) {
  return !value || IsStated(*value, 0, kMaxAmount);
}

}  // namespace

PricedParts PricedPartsOf(const Topology& topology, int gpu_watts) {
  PricedParts parts;
  parts.switches = !topology.fabric.switches.empty();
  parts.cables = !topology.fabric.links.empty();
  if (topology.hosts.empty()) return parts;
  // A cluster file names one kind of host.
  const HostKind& kind = topology.kind_of_host(0);
  if (kind.limits.watts > 0) {
    parts.gpu_watts = kind.limits.watts;
    parts.gpu_watts_source = fmt::format("'power_limit' of the host {}, drawn in full", kind.name);
  } else if (gpu_watts > 0) {
    parts.gpu_watts = gpu_watts;
    parts.gpu_watts_source = fmt::format("'power_limit' of {}, drawn in full",
                                         topology.gpus[static_cast<size_t>(kind.gpu)].file());
  }
  return parts;
}

void ReadCost(const YamlNode& node, const PricedParts& parts, Cost* cost,
              std::vector<std::string>* notes, Diagnostics* diagnostics) {
  CostReader(parts, cost, notes, diagnostics).Read(node);
}

bool IsCost(const Cost& cost, const PricedParts& parts) {
  const bool rented = cost.gpu_hour || cost.host_hour;
  const bool amounts = rented || cost.capital || cost.electricity;
  if (amounts ? !IsCurrency(cost.currency) : !cost.currency.empty()) return false;
  if (!amounts && !cost.power) return false;
  if (cost.gpu_hour && cost.host_hour) return false;
  if (rented && cost.capital) return false;
  if (cost.electricity && !cost.power) return false;
  if (!IsAmount(cost.gpu_hour) || !IsAmount(cost.host_hour) || !IsAmount(cost.electricity)) {
    return false;
  }
  if (const auto& capital = cost.capital) {
    if (!IsStated(capital->host, 0, kMaxAmount) ||
        !IsPart(capital->fabric_switch, parts.switches, kMaxAmount) ||
        !IsPart(capital->optics, parts.cables, kMaxAmount) ||
        !IsStated(capital->years, kMinYears, kMaxYears)) {
      return false;
    }
  }
  const auto& power = cost.power;
  return !power ||
         (IsStated(power->gpu, 0, kMaxPartWatts) && IsStated(power->host, 0, kMaxPartWatts) &&
          IsPart(power->fabric_switch, parts.switches, kMaxPartWatts) &&
          IsPart(power->optics, parts.cables, kMaxPartWatts) && IsStated(power->pue, 1, kMaxPue));
}

}  // namespace drydock
