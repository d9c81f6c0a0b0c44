// Submodules <-> their messages in the manifest.
#ifndef DRYDOCK_CORE_SCHEMA_ARTEFACTS_SUBMODULE_CODEC_H_
#define DRYDOCK_CORE_SCHEMA_ARTEFACTS_SUBMODULE_CODEC_H_

#include <optional>

#include "core/model/submodule.h"
#include "core/schema/artefacts/artefacts.pb.h"

namespace drydock::protocol {

// One message serves all kinds: a field of the kind's struct is stored in the message field of the
// same name (submodule.h, Fields); message fields of other kinds stay unset.
void Encode(const Submodule& from, proto::Manifest::Submodule* to);

// Returns nullopt if a number or an enum is out of range, even in a field of another kind.
std::optional<Submodule> Decode(const proto::Manifest::Submodule& from);

}  // namespace drydock::protocol

#endif  // DRYDOCK_CORE_SCHEMA_ARTEFACTS_SUBMODULE_CODEC_H_
