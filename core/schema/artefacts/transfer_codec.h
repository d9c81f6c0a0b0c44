// Loads, stores, host work and the memory they use, in the manifest. Internal to core/schema.
#ifndef DRYDOCK_CORE_SCHEMA_ARTEFACTS_TRANSFER_CODEC_H_
#define DRYDOCK_CORE_SCHEMA_ARTEFACTS_TRANSFER_CODEC_H_

#include "core/model/workload.h"
#include "core/schema/artefacts/artefacts.pb.h"

namespace drydock {

void EncodeHostMemory(const HostMemory& from, proto::Manifest::HostMemory* to);
HostMemory DecodeHostMemory(const proto::Manifest::HostMemory& from);

void EncodeTransfers(const Workload& from, proto::Manifest* to);
void DecodeTransfers(const proto::Manifest& from, Workload* to);

// Returns true if tiers, sizes and rates are valid and every kind of host has the memory in use.
bool TransfersConsistent(const Workload& workload);

}  // namespace drydock

#endif  // DRYDOCK_CORE_SCHEMA_ARTEFACTS_TRANSFER_CODEC_H_
