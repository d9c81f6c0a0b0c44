#include "study/goodput/failure_file.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <string_view>

#include "study/goodput/time_units.h"

namespace drydock {
namespace {

constexpr const char* kUnknown = "unknown";
constexpr double kMostPerYear = 1e6;
constexpr double kLongest = 1e4 * kSecondsOfYear;

struct Unit {
  std::string_view name;
  double seconds;
};
constexpr Unit kUnits[] = {{"s", 1},
                           {"min", 60},
                           {"h", kSecondsOfHour},
                           {"days", kSecondsOfDay},
                           {"years", kSecondsOfYear}};

bool IsUnknown(const YamlNode& node) {
  return node.kind == YamlNode::Kind::kScalar && node.scalar == kUnknown;
}

class FailureReader {
 public:
  FailureReader(FailureModel* model, Diagnostics* diagnostics)
      : model_(model), diagnostics_(diagnostics) {}

  void Read(const YamlNode& root) {
    YamlReader file(root, "a failures file", diagnostics_);
    file.Read("name", &model_->name);
    file.Read("source", &model_->source);
    if (const YamlNode* rates = file.Take("failures", true)) ReadRates(*rates);
    if (const YamlNode* recovery = file.Take("recovery", true)) ReadRecovery(*recovery);
    file.Finish();
  }

 private:
  void ReadRates(const YamlNode& node) {
    YamlReader reader(node, "failures", diagnostics_);
    for (size_t i = 0; i < kFailingParts; ++i) {
      const std::string& name = FailingPartNames()[i];
      const YamlNode* rate = reader.Take(name, true);
      if (rate == nullptr || IsUnknown(*rate)) continue;
      ReadRate(*rate, name, static_cast<FailingPart>(i), &model_->rates[i]);
    }
    reader.Finish();
  }

  void ReadRate(const YamlNode& node, const std::string& name, FailingPart part,
                FailureModel::Rate* rate) {
    if (!IsSection(node, name, "per_year: …, ")) return;
    YamlReader reader(node, name, diagnostics_);
    const YamlNode* per_year = reader.Take("per_year", false);
    const YamlNode* mtbf = reader.Take("mtbf", false);
    ReadSource(&reader, &rate->per_year);
    if ((per_year == nullptr) == (mtbf == nullptr)) {
      reader.Fail("mtbf", fmt::format("'{}' has either 'per_year', failures of one in a year, or "
                                      "'mtbf', the time between them",
                                      name));
    } else if (per_year != nullptr) {
      ReadPerYear(*per_year, &rate->per_year);
    } else if (!IsUnknown(*mtbf)) {
      ReadTime(*mtbf, &rate->per_year);
      const std::optional<double> seconds = rate->per_year.value;
      if (seconds && *seconds * kMostPerYear < kSecondsOfYear) {
        diagnostics_->Add(mtbf->ErrorHere("'mtbf' must be at least a millionth of a year"));
      } else if (seconds) {
        rate->per_year.value = kSecondsOfYear / *seconds;
      }
    }
    ReadOwnTime(&reader, "detect", rate->per_year.source, &rate->detect);
    const YamlNode* repair = node.Find("repair");
    if (part == FailingPart::kSoftware && repair != nullptr) {
      diagnostics_->Add(
          repair->ErrorHere("software takes no host out of service: it has no "
                            "'repair'"));
      reader.Take("repair", false);
    } else {
      ReadOwnTime(&reader, "repair", rate->per_year.source, &rate->repair);
    }
    reader.Finish();
  }

  void ReadPerYear(const YamlNode& node, KnownOrNot* rate) {
    if (IsUnknown(node)) return;
    const Result<double> value = AsNumber(node);
    if (!value.ok()) return diagnostics_->Add(value.error());
    if (!(*value >= 0 && *value <= kMostPerYear)) {
      return diagnostics_->Add(node.ErrorHere(
          fmt::format("'per_year' is a number of failures from 0 to 1e6, or '{}'", kUnknown)));
    }
    rate->value = *value;
  }

  // The source is that of the rate.
  void ReadOwnTime(YamlReader* reader, const char* key, const std::string& source,
                   std::optional<KnownOrNot>* time) {
    const YamlNode* node = reader->Take(key, false);
    if (node == nullptr) return;
    time->emplace().source = source;
    if (!IsUnknown(*node)) ReadTime(*node, &**time);
  }

  void ReadRecovery(const YamlNode& node) {
    YamlReader reader(node, "recovery", diagnostics_);
    FailureModel::Recovery& recovery = model_->recovery;
    const std::pair<const char*, KnownOrNot*> entries[] = {{"detect", &recovery.detect},
                                                           {"replace", &recovery.replace},
                                                           {"repair", &recovery.repair},
                                                           {"start", &recovery.start},
                                                           {"communicator", &recovery.communicator},
                                                           {"member", &recovery.member}};
    for (const auto& [name, entry] : entries) {
      const YamlNode* stated = reader.Take(name, true);
      if (stated == nullptr || IsUnknown(*stated)) continue;
      if (!IsSection(*stated, name, "time: …, ")) continue;
      YamlReader own(*stated, name, diagnostics_);
      if (const YamlNode* time = own.Take("time", true)) {
        if (!IsUnknown(*time)) ReadTime(*time, entry);
      }
      ReadSource(&own, entry);
      own.Finish();
    }
    reader.Finish();
  }

  bool IsSection(const YamlNode& node, const std::string& name, const char* keys) {
    if (node.kind == YamlNode::Kind::kMap) return true;
    diagnostics_->Add(node.ErrorHere(
        fmt::format("write '{0}: {{{1}source: …}}', or '{0}: unknown'", name, keys)));
    return false;
  }

  void ReadSource(YamlReader* reader, KnownOrNot* entry) {
    reader->Read("source", &entry->source);
    if (reader->Has("source") && entry->source.empty()) {
      reader->Fail("source", "'source' is empty; say where the value comes from");
    }
  }

  void ReadTime(const YamlNode& node, KnownOrNot* entry) {
    const Result<std::string> text = AsString(node);
    if (!text.ok()) return diagnostics_->Add(text.error());
    const Result<double> seconds = ParseDuration(*text);
    if (!seconds.ok()) return diagnostics_->Add(node.ErrorHere(seconds.error().message()));
    entry->value = *seconds;
  }

  FailureModel* model_;
  Diagnostics* diagnostics_;
};

}  // namespace

const std::vector<std::string>& FailingPartNames() {
  static const std::vector<std::string> names = {"gpu",   "hbm",  "nic",     "switch",
                                                 "cable", "host", "software"};
  return names;
}

Result<double> ParseDuration(const std::string& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  if (error == std::errc() && std::isfinite(number) && number >= 0) {
    for (const Unit& each : kUnits) {
      if (unit != each.name) continue;
      if (number * each.seconds <= kLongest) return number * each.seconds;
      return Error(fmt::format("'{}' is longer than 10,000 years", text));
    }
  }
  return Error(
      fmt::format("expected a time such as '90 s', '10 min', '4 h', '2 days' or '5 years', "
                  "or '{}'; found '{}'",
                  kUnknown, text));
}

Result<FailureModel> LoadFailures(const std::string& path,
                                  const std::vector<std::string>& overrides) {
  ASSIGN_OR_RETURN(YamlNode root, LoadYaml(path));
  for (const std::string& assignment : overrides) {
    RETURN_IF_ERROR(ApplyOverride(assignment, &root));
  }
  return ReadFailures(root);
}

Result<FailureModel> ReadFailures(const YamlNode& root) {
  FailureModel model;
  Diagnostics diagnostics;
  FailureReader(&model, &diagnostics).Read(root);
  RETURN_IF_ERROR(diagnostics.ToStatus());
  return model;
}

}  // namespace drydock
