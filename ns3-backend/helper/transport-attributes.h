#ifndef DRYDOCK_NS3_BACKEND_HELPER_TRANSPORT_ATTRIBUTES_H_
#define DRYDOCK_NS3_BACKEND_HELPER_TRANSPORT_ATTRIBUTES_H_

#include "core/model/topology.h"

#include "ns3/object.h"

#include <string>

namespace ns3::rdma
{

/// What is wrong with the attributes of \p transport (an unknown name, a value it does not take),
/// empty if nothing. A name is `Class::Attribute`, of the classes that AttributeClasses lists.
std::string CheckTransportAttributes(const drydock::Transport& transport);

/// Sets those attributes of \p transport that belong to the class of \p object; they are valid.
void SetTransportAttributes(const drydock::Transport& transport, ObjectBase& object);

} // namespace ns3::rdma

#endif // DRYDOCK_NS3_BACKEND_HELPER_TRANSPORT_ATTRIBUTES_H_
