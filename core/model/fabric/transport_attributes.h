// Reads and checks the attributes that a cluster file sets under 'transport: attributes:'.
#ifndef DRYDOCK_CORE_MODEL_FABRIC_TRANSPORT_ATTRIBUTES_H_
#define DRYDOCK_CORE_MODEL_FABRIC_TRANSPORT_ATTRIBUTES_H_

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/result.h"
#include "core/base/units.h"
#include "core/model/fabric/transport_attribute_table.h"

namespace drydock {

// The alternative is that of TransportAttribute::Kind.
using TransportValue = std::variant<double, int64_t, uint64_t, bool, Time, Bandwidth>;

// Returns the row of that name, or null.
const TransportAttribute* FindTransportAttribute(const std::string& name);

// Reads a value and checks its range. The error says what the attribute accepts.
// REQUIRES: `attribute` is not of kind kDerived.
Result<TransportValue> ParseTransportValue(const TransportAttribute& attribute,
                                           const std::string& text);

// Returns an error if no attribute has that name, or if another key decides it.
Status CheckTransportAttributeName(const std::string& name);

// Names and values as a cluster file writes them.
using TransportSettings = std::vector<std::pair<std::string, std::string>>;

// Returns the first error: of a name, of a value, or of two values that contradict each other.
Status CheckTransportAttributes(const TransportSettings& settings);

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_FABRIC_TRANSPORT_ATTRIBUTES_H_
