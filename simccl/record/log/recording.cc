#include "simccl/record/log/recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <tuple>
#include <utility>

#include "core/base/files.h"
#include "core/model/calls/rank_list.h"

namespace drydock {
namespace {

// The name of a process's log: "PROCESS.PID.log".
struct LogName {
  size_t process = 0;
  long pid = 0;
  std::string path;
  auto key() const { return std::tie(process, pid); }
};

std::vector<LogName> FindLogs(const std::string& folder) {
  std::vector<LogName> logs;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() != ".log") continue;
    const std::string name = entry.path().filename().string();
    char* rest = nullptr;
    const size_t process = std::strtoul(name.c_str(), &rest, 10);
    if (*rest == '.') logs.push_back({process, std::strtol(rest + 1, nullptr, 10), entry.path()});
  }
  std::sort(logs.begin(), logs.end(),
            [](const LogName& a, const LogName& b) { return a.key() < b.key(); });
  return logs;
}

// A program may overwrite anything in its memory, including log entries that are not yet written.
bool IsSound(const RecordEntry& entry) {
  const auto members = static_cast<int64_t>(entry.count);
  switch (entry.kind) {
    case RecordKind::kCommunicator:
      return members >= 1 && members <= INT32_MAX && entry.rank >= 0 && entry.rank < members;
    case RecordKind::kCall:
      return entry.function <= RecordFunction::kRecv && entry.type < kRecordTypes &&
             entry.op <= kRecordPreMulSum && entry.buffers <= RecordBuffers::kSymmetric &&
             entry.rank >= 0 && entry.peer >= 0;
    default:
      return entry.kind <= RecordKind::kOp;
  }
}

class Reader {
 public:
  Reader(const Topology& topology, const RankReader& read_rank)
      : owner_(static_cast<size_t>(topology.gpu_count())), read_rank_(read_rank) {
    recording_.ranks.resize(owner_.size());
    int first = 0;
    for (int host = 0; host < topology.host_count(); ++host) {
      first_rank_.push_back(first);
      gpus_.push_back(topology.kind_of_host(host).gpus);
      first += gpus_.back();
    }
  }

  Status Add(const LogName& log, int host) {
    ASSIGN_OR_RETURN(const std::string content, ReadFile(log.path));
    if (content.size() % sizeof(RecordEntry) != 0) {
      return Error(fmt::format("the recording of process {} is truncated", log.process),
                   {log.path, 0, 0});
    }
    for (size_t at = 0; at < content.size(); at += sizeof(RecordEntry)) {
      RecordEntry entry;
      std::memcpy(&entry, content.data() + at, sizeof entry);
      RETURN_IF_ERROR(Add(entry, log, host));
    }
    return ReadRanks(log, host);
  }

  Result<Recording> Finish() {
    for (auto& [serial, joined] : communicators_) {
      for (size_t member = 0; member < joined.ranks.size(); ++member) {
        if (joined.ranks[member] >= 0) continue;
        return Error(
            fmt::format("rank {} of a communicator of {} ranks joined it, but left no recording",
                        member, joined.ranks.size()));
      }
    }
    if (!Renumber()) return Error("a recording names a communicator that no rank joined");
    return std::move(recording_);
  }

 private:
  struct Joined {
    std::vector<int> ranks;
    size_t order = 0;  // number of communicators that its first member had joined before
  };

  Status Add(const RecordEntry& entry, const LogName& log, int host) {
    const auto h = static_cast<size_t>(host);
    if (entry.device < 0 || entry.device >= gpus_[h] || !IsSound(entry)) {
      return Error(fmt::format("the recording of process {} is damaged", log.process),
                   {log.path, 0, 0});
    }
    const int rank = first_rank_[h] + entry.device;
    const LogName*& owner = owner_[static_cast<size_t>(rank)];
    if (owner != nullptr && owner != &log) {
      return Error(fmt::format("processes {} and {} both use GPU {} of host {}", owner->process,
                               log.process, entry.device, host));
    }
    owner = &log;
    RecordedRank& to = recording_.ranks[static_cast<size_t>(rank)];
    switch (entry.kind) {
      case RecordKind::kKernels:
        to.kernels += entry.count;
        break;
      case RecordKind::kCopies:
        to.copies += entry.count;
        break;
      case RecordKind::kCommunicator:
        Join(entry, rank);
        break;
      default:
        to.entries.push_back(entry);
    }
    return OkStatus();
  }

  // Calls read_rank_ for each rank whose log this is.
  Status ReadRanks(const LogName& log, int host) {
    if (!read_rank_) return OkStatus();
    const int first = first_rank_[static_cast<size_t>(host)];
    for (int rank = first; rank < first + gpus_[static_cast<size_t>(host)]; ++rank) {
      const auto r = static_cast<size_t>(rank);
      if (owner_[r] == &log) RETURN_IF_ERROR(read_rank_(rank, &recording_.ranks[r]));
    }
    return OkStatus();
  }

  void Join(const RecordEntry& entry, int rank) {
    Joined& joined = communicators_[entry.communicator];
    joined.ranks.resize(std::max<size_t>(joined.ranks.size(), entry.count), -1);
    joined.ranks[static_cast<size_t>(entry.rank)] = rank;
    std::vector<uint64_t>& before = recording_.ranks[static_cast<size_t>(rank)].joined;
    if (entry.rank == 0) joined.order = before.size();
    before.push_back(entry.communicator);
  }

  bool Renumber() {
    std::vector<std::pair<uint64_t, const Joined*>> sorted;
    for (const auto& [serial, joined] : communicators_) sorted.emplace_back(serial, &joined);
    std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
      return std::tie(a.second->ranks, a.second->order) <
             std::tie(b.second->ranks, b.second->order);
    });
    std::map<uint64_t, uint64_t> numbers;
    for (const auto& [serial, joined] : sorted) {
      numbers[serial] = recording_.communicators.size();
      recording_.communicators.push_back({joined->ranks});
    }
    for (RecordedRank& rank : recording_.ranks) {
      for (uint64_t& joined : rank.joined) joined = numbers.at(joined);
      for (RecordEntry& entry : rank.entries) {
        if (entry.kind != RecordKind::kCall) continue;
        const auto found = numbers.find(entry.communicator);
        if (found == numbers.end()) return false;
        entry.communicator = found->second;
        const auto members = static_cast<int>(recording_.communicators[found->second].ranks.size());
        if (entry.rank >= members || entry.peer >= members) return false;
      }
    }
    return true;
  }

  std::vector<int> first_rank_, gpus_;        // by host
  std::vector<const LogName*> owner_;         // by rank
  std::map<uint64_t, Joined> communicators_;  // by serial
  Recording recording_;
  const RankReader& read_rank_;
};

}  // namespace

Result<Recording> ReadRecording(const std::string& folder, const std::vector<int>& host_of_process,
                                const Topology& topology, const RankReader& read_rank) {
  const std::vector<LogName> logs = FindLogs(folder);
  Reader reader(topology, read_rank);
  for (const LogName& log : logs) {
    if (log.process >= host_of_process.size()) continue;
    RETURN_IF_ERROR(reader.Add(log, host_of_process[log.process]));
  }
  return reader.Finish();
}

std::string ListRanks(const std::vector<int>& ranks) {
  return (ranks.size() == 1 ? "rank " : "ranks ") + FirstRanksText(ranks);
}

}  // namespace drydock
