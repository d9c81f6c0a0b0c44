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

// The value of an attribute. The kind of the attribute decides the alternative.
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

// Returns the value of an attribute in `settings`, or its default. The error says what the
// attribute accepts. REQUIRES: the table has the name, and its kind is not kDerived.
Result<TransportValue> TransportValueOf(const std::string& name, const TransportSettings& settings);

// The same by its type.
template <typename T>
Result<T> ValueOf(const TransportKey<T>& key, const TransportSettings& settings) {
  ASSIGN_OR_RETURN(const TransportValue value, TransportValueOf(key.name, settings));
  return std::get<T>(value);
}

// Returns the first error: of a name, of a value, or of two values that contradict each other.
Status CheckTransportAttributes(const TransportSettings& settings);

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_FABRIC_TRANSPORT_ATTRIBUTES_H_
