// How a communication call stands in the manifest.
#ifndef DRYDOCK_CORE_SCHEMA_ARTEFACTS_CALL_CODEC_H_
#define DRYDOCK_CORE_SCHEMA_ARTEFACTS_CALL_CODEC_H_

#include <cstdint>

#include "core/model/workload.h"
#include "core/schema/artefacts/artefacts.pb.h"

namespace drydock::protocol {

// Larger counts would overflow when they are multiplied by a size.
inline constexpr int64_t kMostElements = int64_t{1} << 56;

void Encode(const CommCall& from, proto::Manifest::Call* to);
CommCall Decode(const proto::Manifest::Call& from);

// Everything in a decoded call is in range and fits together.
bool Consistent(const CommCall& call);

}  // namespace drydock::protocol

#endif  // DRYDOCK_CORE_SCHEMA_ARTEFACTS_CALL_CODEC_H_
