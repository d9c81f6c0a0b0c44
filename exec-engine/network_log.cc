#include "exec-engine/network_log.h"

#include <fmt/format.h>

#include <filesystem>
#include <iterator>
#include <system_error>

#include "core/base/files.h"

namespace drydock {
namespace {

double Microseconds(Time time) { return static_cast<double>(time.ps()) * 1e-6; }

std::string LinkTable(const NetworkLog& log) {
  std::string text =
      "time_us,from,to,interval_us,sent_bytes,utilisation,queued_bytes,marked,dropped,paused_us\n";
  for (const LinkSample& sample : log.samples) {
    const LinkName& link = log.links[static_cast<size_t>(sample.link)];
    const double full = static_cast<double>(link.rate.TimeFor(sample.sent).ps());
    fmt::format_to(std::back_inserter(text), "{:.6f},{},{},{:.6f},{},{:.4f},{},{},{},{:.6f}\n",
                   Microseconds(sample.at), link.from, link.to, Microseconds(sample.interval),
                   sample.sent.count(), full / static_cast<double>(sample.interval.ps()),
                   sample.queued.count(), sample.marked, sample.dropped,
                   Microseconds(sample.paused));
  }
  return text;
}

std::string MessageTable(const NetworkLog& log) {
  std::string text =
      "sent_us,delivered_us,from_host,from_nic,to_host,to_nic,bytes,idle_us,slowdown\n";
  for (const MessageRecord& record : log.messages) {
    const Message& m = record.message;
    const Time took = record.delivered - m.sent;
    const double slowdown = record.idle == Time() ? 0
                                                  : static_cast<double>(took.ps()) /
                                                        static_cast<double>(record.idle.ps());
    fmt::format_to(std::back_inserter(text), "{:.6f},{:.6f},{},{},{},{},{},{:.6f},{:.4f}\n",
                   Microseconds(m.sent), Microseconds(record.delivered), m.source, m.source_nic,
                   m.destination, m.destination_nic, m.size.count(), Microseconds(record.idle),
                   slowdown);
  }
  return text;
}

}  // namespace

void RemoveNetworkLog(const std::string& run) {
  std::error_code absent;
  for (const char* name : {kLinkLogName, kMessageLogName}) {
    std::filesystem::remove(run + "/" + name, absent);
  }
}

Status WriteNetworkLog(const std::string& run, const NetworkLog& log) {
  RETURN_IF_ERROR(WriteFileAtomically(run + "/" + kLinkLogName, LinkTable(log)));
  return WriteFileAtomically(run + "/" + kMessageLogName, MessageTable(log));
}

}  // namespace drydock
