// How a submodule stands in the manifest.
#ifndef DRYDOCK_CORE_SCHEMA_ARTEFACTS_SUBMODULE_CODEC_H_
#define DRYDOCK_CORE_SCHEMA_ARTEFACTS_SUBMODULE_CODEC_H_

#include "core/model/workload.h"
#include "core/schema/artefacts/artefacts.pb.h"

namespace drydock::protocol {

void Encode(const Submodule& from, proto::Manifest::Submodule* to);
Submodule Decode(const proto::Manifest::Submodule& from);

// Every number and enum of a decoded submodule is in range.
bool Consistent(const Submodule& submodule);

}  // namespace drydock::protocol

#endif  // DRYDOCK_CORE_SCHEMA_ARTEFACTS_SUBMODULE_CODEC_H_
