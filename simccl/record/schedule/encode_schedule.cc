#include "simccl/record/schedule/encode_schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <unordered_map>
#include <utility>

#include "core/model/calls/grouped_call.h"
#include "core/nccl/rank_schedule.h"
#include "core/schema/artefacts/trace_file.h"
#include "simccl/nccl/nccl_calls.h"

namespace drydock {
namespace {

size_t Index(int value) { return static_cast<size_t>(value); }

std::string NameOf(const Workload& workload, const Op& op) {
  return fmt::format("{}, {}", OpName(workload, op), PhaseNames()[static_cast<size_t>(op.phase)]);
}

// Appends arrays to the file, each at an offset that is aligned for any struct.
class ScheduleWriter {
 public:
  ScheduleWriter() : content_(sizeof(RankSchedule), '\0') {}

  template <typename T>
  ScheduleArray<T> Add(const std::vector<T>& values) {
    content_.resize((content_.size() + 7) / 8 * 8);
    const ScheduleArray<T> array = {content_.size(), values.size()};
    content_.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
    return array;
  }
  std::string Finish(const RankSchedule& head) {
    std::memcpy(content_.data(), &head, sizeof head);
    return std::move(content_);
  }

 private:
  std::string content_;
};

// Names, each stored once.
class Texts {
 public:
  uint32_t PlaceOf(const std::string& text) {
    const auto next = static_cast<uint32_t>(content.size());
    const auto [known, added] = places_.emplace(text, next);
    if (added) content.insert(content.end(), text.c_str(), text.c_str() + text.size() + 1);
    return known->second;
  }
  std::vector<char> content;

 private:
  std::unordered_map<std::string, uint32_t> places_;
};

struct Programs {
  std::vector<ScheduleClass> classes;
  std::vector<ScheduleOp> ops;
  std::vector<uint32_t> waits;
  Texts texts;
};

ScheduleWait WaitOf(HostWait wait) {
  return wait == HostWait::kNothing   ? ScheduleWait::kNothing
         : wait == HostWait::kOpReady ? ScheduleWait::kStream
                                      : ScheduleWait::kDevice;
}

void AddProgram(const Workload& workload, const Program& program, Programs* to) {
  // Events are numbered in the order in which they are recorded.
  std::vector<uint32_t> event(program.ops.size(), ScheduleOp::kNone);
  for (const uint32_t before : program.dependency) event[before] = 0;
  uint32_t events = 0;
  for (uint32_t& number : event) {
    if (number != ScheduleOp::kNone) number = events++;
  }
  ScheduleClass added;
  added.op_begin = to->ops.size();
  added.op_end = added.op_begin + program.ops.size();
  added.wait_begin = to->waits.size();
  added.events = events;
  to->classes.push_back(added);
  for (size_t i = 0; i < program.ops.size(); ++i) {
    const Op& op = program.ops[i];
    ScheduleOp made;
    made.name = to->texts.PlaceOf(NameOf(workload, op));
    if (CallsNccl(workload, op)) made.call = op.work;
    made.event = event[i];
    made.waits = static_cast<uint32_t>(program.dependencies(i).size());
    made.stream = op.stream;
    made.role = op.role;
    made.host = WaitOf(op.host_waits);
    to->ops.push_back(made);
    for (const uint32_t before : program.dependencies(i)) to->waits.push_back(event[before]);
  }
}

struct Calls {
  std::vector<ScheduleCall> calls;
  std::vector<ScheduleMember> members;
  std::vector<hacknccl_call> parts;
  uint64_t registered_bytes = 0, symmetric_bytes = 0;
};

void AddCall(const CommCall& call, Calls* to) {
  ScheduleCall& added = to->calls.emplace_back();
  added.first = static_cast<uint32_t>(to->members.size());
  if (BypassesNccl(call)) return;
  const GroupOfCalls group = CallsOf(call);
  added.same_for_all = group.has_messages ? 0 : 1;
  for (const MemberCalls& own : group.members) {
    const uint64_t begin = to->parts.size();
    to->parts.insert(to->parts.end(), own.calls.begin(), own.calls.end());
    to->members.push_back({begin, to->parts.size()});
  }
  const auto bytes = static_cast<uint64_t>(call.bytes().count());
  for (const MemberCalls& own : group.members) {
    for (const hacknccl_call& part : own.calls) {
      if (part.buffers == HACKNCCL_BUFFERS_PLAIN) continue;
      uint64_t& most =
          part.buffers == HACKNCCL_BUFFERS_SYMMETRIC ? to->symmetric_bytes : to->registered_bytes;
      most = std::max(most, bytes);
    }
  }
}

std::vector<int32_t> FirstRanks(const Topology& topology) {
  std::vector<int32_t> first;
  int32_t rank = 0;
  for (int host = 0; host < topology.host_count(); ++host) {
    first.push_back(rank);
    rank += topology.kind_of_host(host).gpus;
  }
  return first;
}

// Of every rank, in every split.
std::vector<SchedulePart> PartsOf(const Workload& workload, const ScheduleSplits& splits) {
  const size_t ranks = workload.class_of_rank.size();
  std::vector<SchedulePart> parts(splits.group_of_rank.size() * ranks);
  for (size_t g = 0; g < workload.groups.size(); ++g) {
    const int communicator = splits.communicator_of_group[g];
    if (communicator == 0) continue;
    const std::vector<int>& members = workload.groups[g].ranks;
    for (size_t m = 0; m < members.size(); ++m) {
      parts[Index(communicator - 1) * ranks + Index(members[m])] = {
          static_cast<int32_t>(g), static_cast<int32_t>(m), static_cast<int32_t>(members.size())};
    }
  }
  return parts;
}

std::vector<int32_t> CommunicatorsOf(const Workload& workload, const ScheduleSplits& splits) {
  const size_t ranks = workload.class_of_rank.size(), roles = workload.roles.size();
  std::vector<int32_t> communicators(ranks * roles, -1);
  for (size_t rank = 0; rank < ranks; ++rank) {
    for (size_t role = 0; role < roles; ++role) {
      const int group = workload.group_of_rank[role][rank];
      if (group < 0) continue;
      communicators[rank * roles + role] = splits.communicator_of_group[Index(group)];
    }
  }
  return communicators;
}

bool IsWorld(const Group& group, size_t ranks) {
  std::vector<int> all(ranks);
  std::iota(all.begin(), all.end(), 0);
  return group.ranks == all;
}

}  // namespace

ScheduleSplits SplitsOf(const Workload& workload) {
  const size_t ranks = workload.class_of_rank.size();
  ScheduleSplits splits;
  std::vector<std::vector<int>>& taken = splits.group_of_rank;
  for (size_t g = 0; g < workload.groups.size(); ++g) {
    const std::vector<int>& members = workload.groups[g].ranks;
    if (IsWorld(workload.groups[g], ranks)) {
      splits.communicator_of_group.push_back(0);
      continue;
    }
    size_t split = 0;
    const auto is_taken = [&](int rank) { return taken[split][Index(rank)] >= 0; };
    while (split < taken.size() && std::any_of(members.begin(), members.end(), is_taken)) ++split;
    if (split == taken.size()) taken.emplace_back(ranks, -1);
    for (const int rank : members) taken[split][Index(rank)] = static_cast<int>(g);
    splits.communicator_of_group.push_back(static_cast<int>(split) + 1);
  }
  return splits;
}

bool CallsNccl(const Workload& workload, const Op& op) {
  return IsCommunication(op.kind) && !BypassesNccl(workload.calls[op.work]);
}

std::string EncodeRankSchedule(const Workload& workload) {
  const ScheduleSplits splits = SplitsOf(workload);
  Programs programs;
  for (const Program& program : workload.programs) AddProgram(workload, program, &programs);
  Calls calls;
  for (const CommCall& call : workload.calls) AddCall(call, &calls);
  RankSchedule head;
  head.ranks = workload.rank_count();
  head.splits = static_cast<int32_t>(splits.group_of_rank.size());
  head.roles = static_cast<int32_t>(workload.roles.size());
  head.streams = static_cast<int32_t>(workload.streams.size());
  head.registered_bytes = calls.registered_bytes;
  head.symmetric_bytes = calls.symmetric_bytes;
  ScheduleWriter writer;
  head.first_rank_of_host = writer.Add(FirstRanks(workload.topology));
  head.class_of_rank = writer.Add<int32_t>(workload.class_of_rank);
  head.splits_of_world = writer.Add(PartsOf(workload, splits));
  head.communicators = writer.Add(CommunicatorsOf(workload, splits));
  head.classes = writer.Add(programs.classes);
  head.ops = writer.Add(programs.ops);
  head.waits = writer.Add(programs.waits);
  head.calls = writer.Add(calls.calls);
  head.members = writer.Add(calls.members);
  head.parts = writer.Add(calls.parts);
  head.texts = writer.Add(programs.texts.content);
  return writer.Finish(head);
}

std::string ScheduledPlace(const Workload& workload, int rank, uint64_t op) {
  const int of_rank = workload.class_of_rank[Index(rank)];
  return fmt::format("op {} of class {} ({})", op, of_rank,
                     NameOf(workload, workload.programs[Index(of_rank)].ops[op]));
}

}  // namespace drydock
