#include "capture/hackcuda/device/absent_ranks.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "capture/hackcuda/device/collective_values.h"
#include "capture/hackcuda/device/gpu.h"
#include "capture/hackcuda/device/log.h"
#include "capture/hackcuda/device/streams.h"
#include "core/nccl/capture.h"

namespace drydock::hackcuda {
namespace {

struct Members {
  Ranks ranks;
  std::string group;
};
// Never destroyed.
struct Groups {
  std::mutex mutex;
  std::map<uint64_t, Members> by_key;     // of unique ids
  std::map<uint64_t, Members> by_serial;  // of communicators
  std::map<uint64_t, std::string> names;
  std::map<std::string, int> communicators;  // of the same ranks
  Members expected;                          // of the group that is being made
};
Groups& All() {
  static Groups& groups = *new Groups;
  return groups;
}

// A number for an exchange, the same in every run.
uint64_t Mix(uint64_t a, uint64_t b) {
  uint64_t x = (a ^ (b + 0x9e3779b97f4a7c15)) * 0xbf58476d1ce4e5b9;
  return (x ^ (x >> 31)) | 1;
}

// Returns the ranks of a new communicator, or none if nobody told.
Members MembersOf(const RecordRequest& request) {
  const auto known = All().by_key.find(request.key);
  if (known != All().by_key.end()) return known->second;
  const Members& expected = All().expected;
  return static_cast<int>(expected.ranks.size()) == request.members ? expected : Members();
}

int RanksPerHost() {
  const capture::CapturedProcess& process = Process();
  return std::max(process.ranks_per_host > 0 ? process.ranks_per_host : process.gpus, 1);
}

void GiveHomes(const RecordRequest& request, const Ranks& ranks, char* all) {
  const int ranks_per_host = RanksPerHost();
  for (int i = 0; i < request.members; ++i) {
    // Where nobody told, each member has a host of its own.
    RecordHome home = {i, 0};
    if (!ranks.empty()) {
      const int32_t rank = ranks[static_cast<size_t>(i)];
      home = {rank / ranks_per_host, rank % ranks_per_host};
    }
    if (i == request.member) continue;  // the own payload stays
    memcpy(all + static_cast<size_t>(i) * sizeof home, &home, sizeof home);
  }
}

// Members of the expected group join the same part as this rank, in the order of the group.
void GiveParts(const RecordRequest& request, const RecordPart& own, char* all) {
  const auto parent = All().by_serial.find(request.key);
  const Ranks& expected = All().expected.ranks;
  for (int i = 0; i < request.members; ++i) {
    RecordPart part = {.key = i, .color = own.color};
    if (own.color >= 0 && parent != All().by_serial.end() && !expected.empty()) {
      const int32_t rank = parent->second.ranks[static_cast<size_t>(i)];
      const auto place = std::find(expected.begin(), expected.end(), rank);
      part = {.key = static_cast<int32_t>(place - expected.begin()),
              .color = place == expected.end() ? -1 : own.color};
    }
    if (i == request.member) part = own;
    memcpy(all + static_cast<size_t>(i) * sizeof part, &part, sizeof part);
  }
}

// Unique ids are random, so that communicators have other numbers in the processes of other ranks.
// Their members, and the order in which communicators of the same members are made, are the same.
void NameCommunicator(uint64_t serial, const Members& members) {
  if (!All().by_serial.emplace(serial, members).second) return;
  uint64_t hash = 0xcbf29ce484222325;
  for (const int32_t rank : members.ranks)
    hash = (hash ^ static_cast<uint64_t>(rank)) * 0x100000001b3;
  char text[40];
  snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
  const int count = All().communicators[text]++;
  All().names[serial] = std::string(text) + "-" + std::to_string(count);
}

void Exchange(const RecordRequest* request, const void* own, char* all, uint64_t* serial) {
  const std::lock_guard<std::mutex> lock(All().mutex);
  *serial = Mix(Mix(request->key, request->round), static_cast<uint64_t>(request->members));
  for (int i = 0; i < request->members; ++i) {
    memcpy(all + static_cast<size_t>(i) * request->bytes, own, request->bytes);
  }
  if (std::string_view(request->purpose) == kSplitPurpose && request->bytes == sizeof(RecordPart)) {
    RecordPart part;
    memcpy(&part, own, sizeof part);
    GiveParts(*request, part, all);
  } else if (request->bytes == sizeof(RecordHome)) {
    const Members members = MembersOf(*request);
    if (!members.ranks.empty()) NameCommunicator(*serial, members);
    GiveHomes(*request, members.ranks, all);
  }
}

void LogEntries(const RecordEntry* entries, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const RecordEntry& e = entries[i];
    const auto communicator = static_cast<int64_t>(e.communicator);
    if (e.kind == RecordKind::kCommunicator) {
      Log(EntryKind::kCommunicator, {communicator, static_cast<int64_t>(e.event), e.rank,
                                     static_cast<int64_t>(e.count), e.device});
      const std::lock_guard<std::mutex> lock(All().mutex);
      const Members& members = All().by_serial[e.communicator];
      const std::string text = "ranks " + ListOf(members.ranks) + " " + members.group;
      Log(EntryKind::kMark, {NameNumber(text)});
    } else if (e.kind == RecordKind::kCall) {
      Log(EntryKind::kCall,
          {static_cast<int64_t>(e.function), e.type, e.op, static_cast<int64_t>(e.buffers), e.rank,
           e.peer, communicator, static_cast<int64_t>(e.count), static_cast<int64_t>(e.group),
           StreamNumber(reinterpret_cast<const void*>(e.stream))});
    }
  }
  EndMessages();
}

const RecordHost* Host() {
  static const RecordHost& host = *[] {
    auto* made = new RecordHost;
    const capture::CapturedProcess& process = Process();
    made->gpus = process.gpus;
    made->host = process.rank / RanksPerHost();
    made->compute_capability = process.compute_capability;
    made->sm_count = process.sms;
    made->memory_bytes = process.memory_bytes;
    snprintf(made->gpu_name, sizeof made->gpu_name, "%s", process.name);
    for (int i = 0; i < made->gpus; ++i) PciText(i, made->bus_ids[i], sizeof made->bus_ids[i]);
    return made;
  }();
  return &host;
}

}  // namespace

void NameKey(uint64_t key, Ranks ranks, std::string group) {
  const std::lock_guard<std::mutex> lock(All().mutex);
  All().by_key[key] = {std::move(ranks), std::move(group)};
}

void ExpectGroup(Ranks ranks, std::string group) {
  const std::lock_guard<std::mutex> lock(All().mutex);
  All().expected = {std::move(ranks), std::move(group)};
}

std::string ListOf(const Ranks& ranks) {
  std::string text;
  for (size_t i = 0; i < ranks.size();) {
    if (!text.empty()) text += ',';
    text += std::to_string(ranks[i]);
    size_t last = i + 1;
    if (last == ranks.size()) break;
    const int32_t step = ranks[last] - ranks[i];
    while (last + 1 < ranks.size() && ranks[last + 1] - ranks[last] == step) ++last;
    if (step <= 0 || last < i + 2) {
      ++i;
      continue;
    }
    text += '-' + std::to_string(ranks[last]);
    if (step > 1) text += ':' + std::to_string(step);
    i = last + 1;
  }
  return text;
}

std::string CommunicatorName(uint64_t communicator) {
  const std::lock_guard<std::mutex> lock(All().mutex);
  const auto it = All().names.find(communicator);
  return it == All().names.end() ? "" : it->second;
}

}  // namespace drydock::hackcuda

extern "C" __attribute__((visibility("default"))) const drydock::CaptureApi*
hackcuda_get_capture() {
  using namespace drydock::hackcuda;
  static const drydock::CaptureApi kApi = {Process().rank, Host, LogEntries, Exchange, MoveValues};
  return Process().gpus > 0 ? &kApi : nullptr;
}
