// Reads ASTRA-sim's own files: the YAML of its analytical network, and the JSON of its system
// layer (docs/explanation/analytical-network.md). Reports all mistakes at once.
#ifndef DRYDOCK_CORE_SCHEMA_FOREIGN_ASTRA_FILES_H_
#define DRYDOCK_CORE_SCHEMA_FOREIGN_ASTRA_FILES_H_

#include <string>

#include "core/base/result.h"
#include "core/model/fabric/dimension_network.h"

namespace drydock {

Result<DimensionNetwork> ParseAstraNetwork(const std::string& text, const std::string& file_name);

// `network`: the network of the run. Each list of implementations has one entry per dimension of
// the network, or a single entry for all of it.
Result<CollectiveSystem> ParseAstraSystem(const std::string& text, const std::string& file_name,
                                          const DimensionNetwork& network);

}  // namespace drydock

#endif  // DRYDOCK_CORE_SCHEMA_FOREIGN_ASTRA_FILES_H_
