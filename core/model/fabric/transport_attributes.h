// Parameters of the packet network that a cluster file may set (transport: attributes). What they
// mean, their defaults and ranges stand with the models (ns3-backend); a test holds both together.
#ifndef DRYDOCK_CORE_MODEL_FABRIC_TRANSPORT_ATTRIBUTES_H_
#define DRYDOCK_CORE_MODEL_FABRIC_TRANSPORT_ATTRIBUTES_H_

#include <string>
#include <vector>

namespace drydock {

struct TransportAttribute {
  enum class Form { kNumber, kInteger, kCount, kFlag, kTime, kRate, kFollows };
  std::string name;  // "Dcqcn::Gain"
  Form form = Form::kNumber;
  std::string follows_from;  // kFollows: another key says it
};

// By name.
const std::vector<TransportAttribute>& TransportAttributes();

// What is wrong with the name; "" if nothing.
std::string CheckAttributeName(const std::string& name);
// What is wrong with the value of a known name, but for its range; "" if nothing.
std::string CheckAttributeValue(const std::string& name, const std::string& text);

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_FABRIC_TRANSPORT_ATTRIBUTES_H_
