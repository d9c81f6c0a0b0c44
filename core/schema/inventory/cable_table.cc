// Tables of cables: CSV with a header.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <map>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include "core/base/spelling.h"
#include "core/schema/inventory/inventory.h"

namespace drydock {
namespace {

enum Column { kDeviceA, kPortA, kDeviceB, kPortB, kRate, kLength, kUnit, kColumns };

// The names that tools give to the columns, without case, blanks and punctuation.
const std::map<std::string, Column>& ColumnNames() {
  static const std::map<std::string, Column> names = {{"sideadevice", kDeviceA},
                                                      {"adevice", kDeviceA},
                                                      {"devicea", kDeviceA},
                                                      {"sourcedevice", kDeviceA},
                                                      {"fromdevice", kDeviceA},
                                                      {"source", kDeviceA},
                                                      {"from", kDeviceA},
                                                      {"terminationadevice", kDeviceA},
                                                      {"sideaname", kPortA},
                                                      {"aport", kPortA},
                                                      {"porta", kPortA},
                                                      {"sourceport", kPortA},
                                                      {"fromport", kPortA},
                                                      {"interfacea", kPortA},
                                                      {"sourceinterface", kPortA},
                                                      {"ainterface", kPortA},
                                                      {"terminationaname", kPortA},
                                                      {"sidebdevice", kDeviceB},
                                                      {"bdevice", kDeviceB},
                                                      {"deviceb", kDeviceB},
                                                      {"destinationdevice", kDeviceB},
                                                      {"todevice", kDeviceB},
                                                      {"destination", kDeviceB},
                                                      {"to", kDeviceB},
                                                      {"terminationbdevice", kDeviceB},
                                                      {"targetdevice", kDeviceB},
                                                      {"sidebname", kPortB},
                                                      {"bport", kPortB},
                                                      {"portb", kPortB},
                                                      {"destinationport", kPortB},
                                                      {"toport", kPortB},
                                                      {"interfaceb", kPortB},
                                                      {"destinationinterface", kPortB},
                                                      {"binterface", kPortB},
                                                      {"terminationbname", kPortB},
                                                      {"targetport", kPortB},
                                                      {"rate", kRate},
                                                      {"speed", kRate},
                                                      {"bandwidth", kRate},
                                                      {"length", kLength},
                                                      {"lengthunit", kUnit}};
  return names;
}

std::string Plain(const std::string& name) {
  std::string plain;
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return plain;
}

// The fields of a line; a field in quotes may have commas and doubled quotes.
std::vector<std::string> Fields(const std::string& line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') {
      fields.back() += line[++i];
    } else if (line[i] == '"') {
      quoted = !quoted;
    } else if (line[i] == ',' && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += line[i];
    }
  }
  for (std::string& field : fields) {
    const size_t first = field.find_first_not_of(" \t\r");
    const size_t last = field.find_last_not_of(" \t\r");
    field = first == field.npos ? "" : field.substr(first, last - first + 1);
  }
  return fields;
}

class Reader {
 public:
  Reader(const std::string& text, const std::string& path, const std::string& hosts)
      : lines_(text), path_(path), pattern_(hosts) {}

  Result<Inventory> Read() {
    std::string line;
    bool has_header = false;
    while (std::getline(lines_, line)) {
      ++number_;
      const std::vector<std::string> fields = Fields(line);
      if (fields.size() == 1 && (fields[0].empty() || fields[0][0] == '#')) continue;
      RETURN_IF_ERROR(has_header ? ReadCable(fields) : ReadHeader(fields));
      has_header = true;
    }
    if (!has_header) return Fail("the table is empty");
    out_.hosts.assign(hosts_.begin(), hosts_.end());
    out_.switches.assign(switches_.begin(), switches_.end());
    std::sort(out_.hosts.begin(), out_.hosts.end(), NameLess);
    std::sort(out_.switches.begin(), out_.switches.end(), NameLess);
    return std::move(out_);
  }

 private:
  Error Fail(const std::string& what) const { return Error(what, {path_, number_, 0}); }

  Status ReadHeader(const std::vector<std::string>& names) {
    column_.fill(-1);
    for (size_t i = 0; i < names.size(); ++i) {
      const auto found = ColumnNames().find(Plain(names[i]));
      if (found != ColumnNames().end() && column_[found->second] < 0) {
        column_[found->second] = static_cast<int>(i);
      }
    }
    static constexpr const char* kWanted[] = {"Side A Device", "Side A Name", "Side B Device",
                                              "Side B Name"};
    for (const Column column : {kDeviceA, kPortA, kDeviceB, kPortB}) {
      if (column_[column] >= 0) continue;
      return Fail(
          fmt::format("the header has no column '{}'; write a header such as 'Side A "
                      "Device,Side A Name,Side B Device,Side B Name,Speed,Length,Length "
                      "Unit', of which the last three may be absent",
                      kWanted[column]));
    }
    return OkStatus();
  }

  std::string Field(const std::vector<std::string>& fields, Column column) const {
    const int at = column_[column];
    return at < 0 || static_cast<size_t>(at) >= fields.size() ? ""
                                                              : fields[static_cast<size_t>(at)];
  }

  Status ReadCable(const std::vector<std::string>& fields) {
    Cable cable;
    cable.a = {Field(fields, kDeviceA), Field(fields, kPortA)};
    cable.b = {Field(fields, kDeviceB), Field(fields, kPortB)};
    for (const CableEnd* end : {&cable.a, &cable.b}) {
      if (end->device.empty() || end->port.empty()) {
        return Fail("a cable needs a device and a port at both ends");
      }
      const bool is_host = MatchesPattern(end->device, pattern_);
      (is_host ? hosts_ : switches_).insert(end->device);
      if (!ports_.insert({end->device, end->port}).second) {
        return Fail(
            fmt::format("the port '{}' of '{}' has another cable already", end->port, end->device));
      }
    }
    RETURN_IF_ERROR(ReadRate(Field(fields, kRate), &cable.rate));
    RETURN_IF_ERROR(ReadLength(Field(fields, kLength), Field(fields, kUnit), &cable.metres));
    out_.cables.push_back(std::move(cable));
    return OkStatus();
  }

  // "400 Gbps", "400G" or NetBox's number of Kb/s.
  Status ReadRate(std::string text, Bandwidth* rate) const {
    if (text.empty()) return OkStatus();
    if (text.back() == 'G' || text.back() == 'g') text = text.substr(0, text.size() - 1) + " Gbps";
    if (std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; })) {
      text += " Kbps";
    }
    const Result<Bandwidth> parsed = ParseBandwidth(text);
    if (!parsed.ok()) return Fail(parsed.error().message());
    *rate = *parsed;
    return OkStatus();
  }

  Status ReadLength(const std::string& text, const std::string& unit, double* metres) const {
    if (text.empty()) return OkStatus();
    static const std::map<std::string, double> units = {{"", 1},        {"m", 1},
                                                        {"meters", 1},  {"metres", 1},
                                                        {"cm", 0.01},   {"centimeters", 0.01},
                                                        {"ft", 0.3048}, {"feet", 0.3048},
                                                        {"in", 0.0254}, {"inches", 0.0254},
                                                        {"km", 1000},   {"kilometers", 1000}};
    std::string lower;
    for (const char c : unit) {
      lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    const auto found = units.find(lower);
    if (found == units.end()) return Fail(fmt::format("'{}' is not a unit of length", unit));
    double number = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc() || stop != end || !(number >= 0 && number * found->second <= 1e5)) {
      return Fail(fmt::format("'{}' is not a length from 0 to 100 km", text));
    }
    *metres = number * found->second;
    return OkStatus();
  }

  std::istringstream lines_;
  const std::string& path_;
  const std::string& pattern_;
  int number_ = 0;
  std::array<int, kColumns> column_ = {};
  std::set<std::string> hosts_, switches_;
  std::set<std::pair<std::string, std::string>> ports_;
  Inventory out_;
};

}  // namespace

Result<Inventory> ParseCableTable(const std::string& text, const std::string& path,
                                  const std::string& hosts) {
  return Reader(text, path, hosts).Read();
}

}  // namespace drydock
