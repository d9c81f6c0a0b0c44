#include "core/model/op_causes.h"

#include "core/base/check.h"

namespace drydock {

OpCauses::OpCauses(const Program& program, const RankTimeline& timeline)
    : program_(program), timeline_(timeline) {
  CHECK(timeline.end.size() == program.ops.size());
  std::vector<uint32_t> last(256, kNoCause);  // by stream
  for (uint32_t op = 0; op < program.ops.size(); ++op) {
    uint32_t& before = last[program.ops[op].stream];
    previous_in_stream_.push_back(before);
    before = op;
  }
  FindHostWaits();
}

bool OpCauses::EndsLater(uint32_t a, uint32_t b) const {
  if (b == kNoCause) return true;
  if (timeline_.end[a] != timeline_.end[b]) return timeline_.end[a] > timeline_.end[b];
  const bool a_computes = program_.ops[a].kind == OpKind::kCompute;
  const bool b_computes = program_.ops[b].kind == OpKind::kCompute;
  return a_computes != b_computes ? b_computes : a > b;
}

void OpCauses::FindHostWaits() {
  uint32_t last = kNoCause, waited = kNoCause;
  for (uint32_t op = 0; op < program_.ops.size(); ++op) {
    const HostWait wait = program_.ops[op].host_waits;
    host_waited_.push_back(waited);
    if (wait != HostWait::kNothing) {
      waited = host_waited_[op] = wait == HostWait::kDeviceSync ? last : Of(op);
    }
    if (program_.ops[op].kind != OpKind::kHostWork && EndsLater(op, last)) last = op;
  }
}

uint32_t OpCauses::Of(uint32_t op) const {
  uint32_t cause = previous_in_stream_[op];
  const uint32_t waited = host_waited_[op];
  // If launches cost nothing, a waiting host delays no op.
  if (waited != kNoCause && timeline_.end[waited] <= timeline_.start[op] &&
      EndsLater(waited, cause)) {
    cause = waited;
  }
  for (const uint32_t dependency : program_.dependencies(op)) {
    if (EndsLater(dependency, cause)) cause = dependency;
  }
  return cause;
}

uint32_t OpCauses::LastToEnd() const {
  uint32_t last = kNoCause;
  for (uint32_t op = 0; op < program_.ops.size(); ++op) {
    if (EndsLater(op, last)) last = op;
  }
  return last;
}

}  // namespace drydock
