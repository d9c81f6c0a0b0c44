#include "simccl/planner/call_shape.h"

#include <fmt/format.h>

#include "core/model/calls/grouped_call.h"

namespace drydock {
namespace {

Status CheckOne(const CommCall& call, int members) {
  if (call.group_size == members && call.count >= 0 && call.count % PartsOf(call) == 0) {
    return OkStatus();
  }
  return Error(fmt::format("{} elements do not divide among a group of {} (the call says {})",
                           call.count, members, call.group_size));
}

}  // namespace

int64_t PartsOf(const CommCall& call) { return HasParts(call.collective) ? call.group_size : 1; }

Status CheckCallShape(const CommCall& call, int members) {
  RETURN_IF_ERROR(CheckOne(call, members));
  for (const CommCall& part : call.parts) RETURN_IF_ERROR(CheckOne(part, members));
  return OkStatus();
}

}  // namespace drydock
