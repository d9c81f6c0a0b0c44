#ifndef DRYDOCK_NS3_BACKEND_MODEL_ATTRIBUTES_TRANSPORT_ATTRIBUTES_H_
#define DRYDOCK_NS3_BACKEND_MODEL_ATTRIBUTES_TRANSPORT_ATTRIBUTES_H_

#include "core/model/topology.h"

#include "ns3/object.h"

#include <string>
#include <vector>

namespace ns3::rdma
{

/// Where a class keeps one attribute of core/model/fabric/transport_attribute_table.h.
struct AttributeMember
{
    std::string name; //!< without the class: "Gain"
    Ptr<const AttributeAccessor> accessor;
};

/**
 * Adds to \p type the attributes that the table lists for its class. Help text, default and range
 * come from the table.
 * REQUIRES: \p members has each attribute of the class that is not derived from another key.
 */
TypeId AddTransportAttributes(TypeId type, const std::vector<AttributeMember>& members);

/**
 * Sets the attributes of \p transport that belong to the class of \p object or to a parent of it.
 * REQUIRES: drydock::CheckTransportAttributes accepts the attributes of \p transport.
 */
void SetTransportAttributes(const drydock::Transport& transport, ObjectBase& object);

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_MODEL_ATTRIBUTES_TRANSPORT_ATTRIBUTES_H_
