#include "core/schema/artefacts/call_codec.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/schema/artefacts/protocol.h"
#include "core/schema/cluster/cluster_limits.h"

namespace drydock::protocol {
namespace {

// Skips parts of parts: no call has them, and a hostile file can nest them without limit.
CommCall Decode(const proto::Manifest::Call& from, bool with_parts) {
  CommCall to = {protocol::ToEnum<CollectiveType>(from.collective()),
                 protocol::ToEnum<DataType>(from.type()),
                 protocol::ToEnum<ReduceOp>(from.op()),
                 from.count(),
                 from.root(),
                 from.peer(),
                 from.group_size(),
                 from.in_place(),
                 protocol::ToEnum<BufferKind>(from.buffers()),
                 {from.pair_counts().begin(), from.pair_counts().end()},
                 {},
                 from.sms()};
  if (!with_parts) return to;
  for (const proto::Manifest::Call& part : from.parts()) to.parts.push_back(Decode(part, false));
  return to;
}

// Each pair has a count; no member's buffer exceeds the size of the call.
bool PairsConsistent(const CommCall& call) {
  if (call.collective != CollectiveType::kAllToAllV) return call.pair_counts.empty();
  const auto n = static_cast<size_t>(call.group_size);
  if (call.pair_counts.size() / n != n || call.pair_counts.size() % n != 0) return false;
  std::vector<int64_t> sent(n), received(n);
  for (size_t pair = 0; pair < call.pair_counts.size(); ++pair) {
    const int64_t count = call.pair_counts[pair];
    int64_t& out = sent[pair / n];
    int64_t& in = received[pair % n];
    if (count < 0 || count > call.count - out || count > call.count - in) return false;
    out += count;
    in += count;
  }
  return true;
}

// Only a grouped call has parts; they have the same members and fill its buffer.
bool PartsConsistent(const CommCall& call) {
  if (call.collective != CollectiveType::kGrouped) return call.parts.empty();
  int64_t bytes = 0;
  for (const CommCall& part : call.parts) {
    if (!Consistent(part) || part.collective == CollectiveType::kGrouped ||
        part.group_size != call.group_size || part.bytes().count() > call.count - bytes) {
      return false;
    }
    bytes += part.bytes().count();
  }
  return bytes == call.count && call.type == DataType::kUint8;
}

}  // namespace

void Encode(const CommCall& from, proto::Manifest::Call* to) {
  to->set_collective(static_cast<uint32_t>(from.collective));
  to->set_type(static_cast<uint32_t>(from.type));
  to->set_op(static_cast<uint32_t>(from.op));
  to->set_count(from.count);
  to->set_root(from.root);
  to->set_peer(from.peer);
  to->set_group_size(from.group_size);
  to->set_in_place(from.in_place);
  to->set_buffers(static_cast<uint32_t>(from.buffers));
  to->set_sms(from.sms);
  to->mutable_pair_counts()->Add(from.pair_counts.begin(), from.pair_counts.end());
  for (const CommCall& part : from.parts) Encode(part, to->add_parts());
}

CommCall Decode(const proto::Manifest::Call& from) { return Decode(from, true); }

bool Consistent(const CommCall& call) {
  const auto member = [&call](int m) { return m >= 0 && m < call.group_size; };
  return protocol::Within(call.collective, kCollectiveTypeCount) &&
         protocol::Within(call.type, kMessageTypeCount) &&
         protocol::Within(call.op, kReduceOpCount) &&
         protocol::Within(call.buffers, kBufferKindCount) && call.count > 0 &&
         call.count <= kMaxElements && call.group_size > 0 && member(call.root) &&
         member(call.peer) && call.sms >= 0 && call.sms <= kMaxSms && PairsConsistent(call) &&
         PartsConsistent(call);
}

}  // namespace drydock::protocol
