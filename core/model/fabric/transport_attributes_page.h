// The tables of transport_attribute_table.h as docs/reference/transport-attributes.md.
#ifndef DRYDOCK_CORE_MODEL_FABRIC_TRANSPORT_ATTRIBUTES_PAGE_H_
#define DRYDOCK_CORE_MODEL_FABRIC_TRANSPORT_ATTRIBUTES_PAGE_H_

#include <string>

namespace drydock {

// The whole page, in Markdown.
std::string TransportAttributesPage();

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_FABRIC_TRANSPORT_ATTRIBUTES_PAGE_H_
