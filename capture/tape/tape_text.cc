#include "capture/tape/tape_text.h"

#include <fmt/format.h>

#include <map>
#include <type_traits>

#include "simccl/record/log/match.h"

namespace drydock::capture {
namespace {

std::string TextOf(const Submodule& s, bool with_times) {
  std::string text = fmt::format("{} {} {}", s.kind_name(),
                                 PassNames()[static_cast<size_t>(s.pass)], ToString(s.type));
  ForEachField(s.work, [&](submodule::Field, std::string_view name, const auto& value) {
    if (value == 0) return;
    if constexpr (std::is_same_v<std::decay_t<decltype(value)>, bool>) {
      text += fmt::format(" {}", name);
    } else {
      text += fmt::format(" {}={}", name, value);
    }
  });
  if (with_times && s.host.ps() > 0) text += fmt::format(" host={:.1f} us", s.host.us());
  return text;
}

// What the host and a graph have to do with an entry.
std::string IssueText(const TapePlace& place) {
  std::string text;
  if (place.graph == GraphPart::kFirst) text += ", a graph";
  if (place.graph == GraphPart::kRest) text += ", in the graph";
  if (place.host_waits == HostWait::kOpReady) text += ", host waits";
  if (place.host_waits == HostWait::kDeviceSync) text += ", host waits for all";
  return text;
}

class Writer {
 public:
  Writer(const RankTape& tape, const TapeTextOptions& options) : tape_(tape), options_(options) {}

  std::string Text() {
    std::string text = fmt::format("rank {} of {}, iteration {} of {}\n", tape_.rank, tape_.world,
                                   tape_.start.iteration, tape_.start.iterations);
    text += fmt::format("start: {} launches, {} products, {} calls\n", tape_.start.launches,
                        tape_.start.products, tape_.start.calls);
    if (options_.with_times && tape_.memory.reserved.count() > 0) {
      text += fmt::format("memory: {} B allocated, {} B reserved\n", tape_.memory.allocated.count(),
                          tape_.memory.reserved.count());
    }
    if (options_.with_times) {
      text += fmt::format("host: {:.3f} ms before work, {:.3f} ms before calls{}, on {}\n",
                          tape_.host.blocks.us() / 1e3, tape_.host.calls.us() / 1e3,
                          tape_.host.is_alone ? ", in a run of its own" : "", tape_.host.processor);
    }
    for (size_t i = 0; i < tape_.communicators.size(); ++i) {
      const TapeCommunicator& c = tape_.communicators[i];
      if (c.group < 0) {
        text += fmt::format("communicator {}: of unknown ranks\n", i);
        continue;
      }
      const TapeGroup& group = tape_.groups[static_cast<size_t>(c.group)];
      text += fmt::format("communicator {}: {} of {} ranks of group {} {}\n", i, c.members.size(),
                          group.ranks.size(), group.name, group.description);
    }
    for (size_t i = 0; i < tape_.entries.size(); ++i) {
      text += fmt::format("[{}{}] {}\n", PlaceText(tape_.places[i]), IssueText(tape_.places[i]),
                          EntryText(i));
    }
    for (const auto& [kernel, estimate] : tape_.estimates) {
      text += fmt::format("estimated: {} x {}, {} B{}\n", estimate.launches, kernel,
                          estimate.bytes.count(), estimate.unknown > 0 ? ", nothing known" : "");
    }
    for (const TapeRead& read : tape_.reads) {
      text += fmt::format("read {} times: {} at {}, of {}: {}\n", read.count, read.shape, read.line,
                          read.origin, read.value);
    }
    return text;
  }

 private:
  // Streams and events by their first use.
  size_t Stream(uint64_t stream) { return streams_.emplace(stream, streams_.size()).first->second; }

  std::string EntryText(size_t i) {
    const RecordEntry& e = tape_.entries[i];
    switch (e.kind) {
      case RecordKind::kWork:
        return fmt::format("stream {}: {}", Stream(e.stream), WorkText(e, tape_.places[i]));
      case RecordKind::kCall:
        return fmt::format("stream {}: {} on communicator {}", Stream(e.stream), DescribeCall(e),
                           e.communicator);
      case RecordKind::kEventRecord:
        records_[e.event] = ++record_;
        return fmt::format("stream {}: event {}", Stream(e.stream), record_);
      case RecordKind::kStreamWait:
        return fmt::format("stream {}: waits for event {}", Stream(e.stream), records_[e.event]);
      case RecordKind::kEventSync:
        return fmt::format("the host waits for event {}", records_[e.event]);
      case RecordKind::kStreamSync:
        return fmt::format("the host waits for stream {}", Stream(e.stream));
      default:
        return "the host waits for all streams";
    }
  }

  std::string WorkText(const RecordEntry& e, const TapePlace& place) const {
    if (place.transfer >= 0) {
      const MemoryTransfer& transfer = tape_.transfers[static_cast<size_t>(place.transfer)];
      return fmt::format("{}, {} B", transfer.name, transfer.bytes.count());
    }
    const ComputeBlock& block = tape_.blocks[e.count];
    std::string text = block.name + ":";
    for (const uint32_t submodule : block.submodules) {
      text += " " + TextOf(tape_.submodules[submodule], options_.with_times) + ";";
    }
    text.pop_back();
    return text;
  }

  const RankTape& tape_;
  const TapeTextOptions options_;
  std::map<uint64_t, size_t> streams_;
  std::map<uint64_t, size_t> records_;  // by event: its last record; 0: before the iteration
  size_t record_ = 0;
};

}  // namespace

std::string PlaceText(const TapePlace& place) {
  std::string text = PhaseNames()[static_cast<size_t>(place.phase)];
  if (place.layer >= 0) text += fmt::format(" layer {}", place.layer);
  if (place.microbatch >= 0) text += fmt::format(" micro-batch {}", place.microbatch);
  return text;
}

std::string TapeText(const RankTape& tape, const TapeTextOptions& options) {
  return Writer(tape, options).Text();
}

}  // namespace drydock::capture
