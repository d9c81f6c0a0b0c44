#include "report/inputs/link_log.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "core/base/files.h"
#include "core/network/network_log.h"

namespace drydock {
namespace {

constexpr std::string_view kHeading =
    "time_us,from,to,interval_us,sent_bytes,utilisation,queued_bytes,marked,dropped,paused_us,"
    "repeated";
constexpr int64_t kMostBytes = int64_t{1} << 50;  // in an interval
enum Column : size_t { kTime, kFrom, kTo, kInterval, kSent, kColumns = 11 };

// Splits a line into exactly kColumns fields.
bool Split(std::string_view line, std::string_view (&fields)[kColumns]) {
  for (size_t i = 0; i < kColumns; ++i) {
    const size_t comma = line.find(',');
    if ((comma == line.npos) != (i + 1 == kColumns)) return false;
    fields[i] = line.substr(0, comma);
    line.remove_prefix(comma == line.npos ? line.size() : comma + 1);
  }
  return true;
}

template <typename Number>
bool Read(std::string_view text, Number* value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc() && end == text.data() + text.size() && *value >= 0;
}

// Microseconds with six decimals.
bool ReadTime(std::string_view text, Time* time) {
  constexpr double kMost = 1e12;  // a million seconds
  double us = 0;
  if (!Read(text, &us) || !(us <= kMost)) return false;
  *time = Time::Ps(std::llround(us * 1e6));
  return true;
}

}  // namespace

Result<LinkLog> ParseLinkLog(const std::string& text, const std::string& path) {
  LinkLog log;
  std::unordered_map<std::string, size_t> index;
  int number = 0;
  for (size_t begin = 0; begin < text.size(); ++number) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    const auto wrong = [&](const std::string& what) {
      return Error(what + "; run exec-engine --network-log again", {path, number + 1, 0},
                   std::string(line));
    };
    begin = end + 1;
    if (number == 0) {
      if (line != kHeading) return wrong("this is not the heading of a log of links");
      continue;
    }
    std::string_view fields[kColumns];
    if (!Split(line, fields)) return wrong(fmt::format("a row has {} fields", size_t{kColumns}));
    LoggedInterval interval;
    Time length;
    if (!ReadTime(fields[kTime], &interval.end) || !ReadTime(fields[kInterval], &length) ||
        !Read(fields[kSent], &interval.bytes) || interval.bytes > kMostBytes ||
        length > interval.end || length == Time()) {
      return wrong("a time or a number of bytes is not one");
    }
    interval.begin = interval.end - length;
    std::string key(fields[kFrom]);
    key.append(",").append(fields[kTo]);
    const auto [found, added] = index.try_emplace(std::move(key), log.size());
    if (added) log.push_back({std::string(fields[kFrom]), std::string(fields[kTo]), {}});
    std::vector<LoggedInterval>& of_link = log[found->second].intervals;
    const bool parallel = !of_link.empty() && interval.begin == of_link.back().begin &&
                          interval.end == of_link.back().end;
    if (parallel) {
      of_link.back().bytes += interval.bytes;
      continue;
    }
    if (!of_link.empty() && interval.begin < of_link.back().end) {
      return wrong("the interval begins before the last one of this link has ended");
    }
    of_link.push_back(interval);
  }
  if (number == 0) return Error("there is no heading", {path, 1, 0});
  return log;
}

Result<std::optional<LinkLog>> ReadLinkLog(const std::string& run) {
  const std::string path = run + "/" + kLinkLogName;
  if (!FileExists(path)) return std::optional<LinkLog>();
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  ASSIGN_OR_RETURN(LinkLog log, ParseLinkLog(text, path));
  return std::optional<LinkLog>(std::move(log));
}

}  // namespace drydock
