#include "core/model/calls/grouped_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "core/base/check.h"

namespace drydock {

CommCall MakeGrouped(std::vector<CommCall> parts) {
  CHECK(!parts.empty());
  CommCall call;
  call.collective = CollectiveType::kGrouped;
  call.type = DataType::kUint8;
  call.group_size = parts.front().group_size;
  for (const CommCall& part : parts) {
    CHECK(part.collective != CollectiveType::kGrouped && part.group_size == call.group_size);
    call.count += part.bytes().count();
  }
  call.parts = std::move(parts);
  return call;
}

std::vector<int64_t> OffsetsOfParts(const CommCall& grouped) {
  std::vector<int64_t> offsets;
  int64_t offset = 0;
  for (const CommCall& part : grouped.parts) {
    offsets.push_back(offset);
    offset += part.bytes().count();
  }
  return offsets;
}

bool IsCyclicShift(const CommCall& call) {
  if (call.collective != CollectiveType::kGrouped) return false;
  const int members = call.group_size;
  if (static_cast<int>(call.parts.size()) != members) return false;
  const CommCall& first = call.parts.front();
  for (int member = 0; member < members; ++member) {
    const CommCall& part = call.parts[static_cast<size_t>(member)];
    const bool is_shift_part =
        part.collective == CollectiveType::kSendRecv && part.root == member &&
        part.peer == (first.peer + member) % members && part.peer != member &&
        part.type == first.type && part.count == first.count && part.buffers == first.buffers;
    if (!is_shift_part) return false;
  }
  return true;
}

bool InvolvesSubset(const CommCall& call) {
  if (call.collective != CollectiveType::kGrouped) {
    return call.collective == CollectiveType::kSendRecv;
  }
  if (IsCyclicShift(call)) return false;
  return std::all_of(call.parts.begin(), call.parts.end(), InvolvesSubset);
}

bool TakesPart(const CommCall& call, int member) {
  if (call.collective == CollectiveType::kSendRecv) {
    return member == call.root || member == call.peer;
  }
  return call.collective != CollectiveType::kGrouped ||
         std::any_of(call.parts.begin(), call.parts.end(),
                     [member](const CommCall& part) { return TakesPart(part, member); });
}

int ParticipantsOf(const CommCall& call) {
  if (!InvolvesSubset(call)) return call.group_size;
  int count = 0;
  for (int member = 0; member < call.group_size; ++member) count += TakesPart(call, member) ? 1 : 0;
  return count;
}

std::string KindText(const CommCall& call) {
  if (call.collective != CollectiveType::kGrouped) {
    return CollectiveTypeNames()[static_cast<size_t>(call.collective)];
  }
  std::map<CollectiveType, int> counts;
  for (const CommCall& part : call.parts) ++counts[part.collective];
  std::string text;
  for (const auto& [type, count] : counts) {
    text += (text.empty() ? "" : ", ") + CollectiveTypeNames()[static_cast<size_t>(type)];
    if (count > 1) text += fmt::format(" x{}", count);
  }
  return text;
}

bool BypassesNccl(const CommCall& call) {
  return static_cast<int>(call.buffers) >= kNcclBufferKindCount ||
         std::any_of(call.parts.begin(), call.parts.end(), BypassesNccl);
}

std::string BuffersText(const CommCall& call) {
  const bool grouped = call.collective == CollectiveType::kGrouped && !call.parts.empty();
  BufferKind least = call.buffers, most = call.buffers;
  if (grouped) least = most = call.parts.front().buffers;
  for (const CommCall& part : call.parts) {
    least = std::min(least, part.buffers);
    most = std::max(most, part.buffers);
  }
  if (most == BufferKind::kPlain) return "";
  if (least >= BufferKind::kUserBuffers) {
    return ", " + BufferKindNames()[static_cast<size_t>(least)];
  }
  return fmt::format(", {}{} buffers", least == most ? "" : "some ",
                     BufferKindNames()[static_cast<size_t>(most)]);
}

std::string NameOf(const CommCall& call) {
  const std::string buffers = BuffersText(call);
  if (call.collective == CollectiveType::kGrouped) {
    return fmt::format("group of {}: {} over {}{}", KindText(call), ToString(call.bytes()),
                       call.group_size, buffers);
  }
  return fmt::format("{} {} {} over {}{}", KindText(call), ToString(call.type),
                     ToString(call.bytes()), call.group_size, buffers);
}

}  // namespace drydock
