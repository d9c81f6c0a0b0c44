// Communication calls in the manifest.
#ifndef DRYDOCK_CORE_SCHEMA_ARTEFACTS_CALL_CODEC_H_
#define DRYDOCK_CORE_SCHEMA_ARTEFACTS_CALL_CODEC_H_

#include <cstdint>

#include "core/model/workload.h"
#include "core/schema/artefacts/artefacts.pb.h"

namespace drydock::protocol {

// Larger counts overflow when multiplied by a size.
inline constexpr int64_t kMaxElements = int64_t{1} << 56;

void Encode(const CommCall& from, proto::Manifest::Call* to);
CommCall Decode(const proto::Manifest::Call& from);

// Returns true if all values of a decoded call are in range and consistent.
bool Consistent(const CommCall& call);

}  // namespace drydock::protocol

#endif  // DRYDOCK_CORE_SCHEMA_ARTEFACTS_CALL_CODEC_H_
