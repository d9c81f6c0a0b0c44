#include "core/network/network_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <map>
#include <system_error>

#include "core/base/files.h"

namespace drydock {
namespace {

double Microseconds(Time time) { return static_cast<double>(time.ps()) * 1e-6; }

std::string LinkTable(const NetworkLog& log) {
  std::string text =
      "time_us,from,to,interval_us,sent_bytes,utilisation,queued_bytes,marked,dropped,paused_us,"
      "repeated\n";
  for (const LinkSample& sample : log.samples) {
    const LinkName& link = log.links[static_cast<size_t>(sample.link)];
    const double full = static_cast<double>(link.rate.TimeFor(sample.sent).ps());
    fmt::format_to(std::back_inserter(text), "{:.6f},{},{},{:.6f},{},{:.4f},{},{},{},{:.6f},{}\n",
                   Microseconds(sample.at), link.from, link.to, Microseconds(sample.interval),
                   sample.sent.count(), full / static_cast<double>(sample.interval.ps()),
                   sample.queued.count(), sample.marked, sample.dropped,
                   Microseconds(sample.paused), sample.repeated);
  }
  return text;
}

double SlowdownOf(const MessageRecord& record) {
  const Time took = record.delivered - record.message.sent;
  return static_cast<double>(took.ps()) / static_cast<double>(record.idle.ps());
}

// Returns the smallest value that at least `share` of the values do not exceed. REQUIRES: `sorted`
// is sorted and not empty.
double Quantile(const std::vector<double>& sorted, double share) {
  const auto at = static_cast<size_t>(std::ceil(share * static_cast<double>(sorted.size())));
  return sorted[std::max<size_t>(at, 1) - 1];
}

std::string SlowdownTable(const NetworkLog& log) {
  std::string text = "bytes_up_to,messages,median,p95,p99,most\n";
  for (const SlowdownRow& row : SlowdownsOf(log)) {
    fmt::format_to(std::back_inserter(text), "{},{},{:.4f},{:.4f},{:.4f},{:.4f}\n",
                   row.up_to.count(), row.messages, row.median, row.p95, row.p99, row.most);
  }
  return text;
}

std::string MessageTable(const NetworkLog& log) {
  std::string text =
      "sent_us,delivered_us,from_host,from_nic,to_host,to_nic,bytes,idle_us,slowdown\n";
  for (const MessageRecord& record : log.messages) {
    const Message& m = record.message;
    fmt::format_to(std::back_inserter(text), "{:.6f},{:.6f},{},{},{},{},{},{:.6f},{:.4f}\n",
                   Microseconds(m.sent), Microseconds(record.delivered), m.source, m.source_nic,
                   m.destination, m.destination_nic, m.size.count(), Microseconds(record.idle),
                   SlowdownOf(record));
  }
  return text;
}

}  // namespace

std::vector<SlowdownRow> SlowdownsOf(const NetworkLog& log) {
  std::map<int64_t, std::vector<double>> by_size;
  for (const MessageRecord& record : log.messages) {
    const auto bytes = static_cast<uint64_t>(record.message.size.count());
    by_size[static_cast<int64_t>(std::bit_ceil(bytes))].push_back(SlowdownOf(record));
  }
  std::vector<SlowdownRow> rows;
  for (auto& [bytes, slowdowns] : by_size) {
    std::sort(slowdowns.begin(), slowdowns.end());
    rows.push_back({Bytes(bytes), static_cast<int64_t>(slowdowns.size()), Quantile(slowdowns, 0.5),
                    Quantile(slowdowns, 0.95), Quantile(slowdowns, 0.99), slowdowns.back()});
  }
  return rows;
}

void RemoveNetworkLog(const std::string& run) {
  std::error_code absent;
  for (const char* name : {kLinkLogName, kMessageLogName, kSlowdownName}) {
    std::filesystem::remove(run + "/" + name, absent);
  }
}

Status WriteNetworkLog(const std::string& run, const NetworkLog& log) {
  RETURN_IF_ERROR(WriteFileAtomically(run + "/" + kLinkLogName, LinkTable(log)));
  RETURN_IF_ERROR(WriteFileAtomically(run + "/" + kSlowdownName, SlowdownTable(log)));
  return WriteFileAtomically(run + "/" + kMessageLogName, MessageTable(log));
}

}  // namespace drydock
