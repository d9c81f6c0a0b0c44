// The attributes of the packet network that a cluster file sets under 'transport: attributes:', and
// the algorithms of 'congestion_control' that they belong to.
//
// The table states the name, kind, unit, default, range and meaning of each attribute, once. The
// reader of cluster files checks against the table (transport_attributes.h), the ns-3 module
// declares and sets its attributes from it (ns3-backend/model/attributes), and
// docs/reference/transport-attributes.md is its printout (transport_attributes_page.h).
#ifndef DRYDOCK_CORE_MODEL_FABRIC_TRANSPORT_ATTRIBUTE_TABLE_H_
#define DRYDOCK_CORE_MODEL_FABRIC_TRANSPORT_ATTRIBUTE_TABLE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/units.h"
#include "core/model/topology.h"

namespace drydock {

struct TransportAttribute {
  enum class Kind {
    kNumber,   // double
    kInteger,  // int64_t
    kCount,    // uint64_t
    kFlag,     // bool
    kTime,     // Time
    kRate,     // Bandwidth
    kDerived,  // another key of the cluster file decides it: a cluster file must not set it
  };

  std::string name;  // "Dcqcn::Gain": a class of the ns-3 module and the attribute of it
  Kind kind = Kind::kNumber;
  std::string unit;           // of numbers, integers and counts; other kinds write theirs
  std::string default_value;  // as a cluster file writes it, like min and max
  std::string min;            // empty if the kind alone limits it
  std::string max;            // the same
  std::string help;           // what it means, and the source of the default
  std::string derived_from;   // kDerived: the key
};

// The name of an attribute that other code than the packet network reads (ValueOf in
// transport_attributes.h). T: the C++ type of its kind.
template <typename T>
struct TransportKey {
  const char* name;
};

inline constexpr TransportKey<double> kWindowBdp = {"RdmaTransport::WindowBdp"};
inline constexpr TransportKey<uint64_t> kCutThrough = {"FabricSwitch::CutThrough"};  // bytes
inline constexpr TransportKey<Time> kRerouteTime = {"FaultInjector::RerouteTime"};

// By class, in the order of the reference page.
const std::vector<TransportAttribute>& TransportAttributes();

struct CongestionAlgorithm {
  CongestionControl control;  // the value of 'congestion_control' that names it
  std::string summary;        // one line, with the paper
  std::string attributes;     // the class of its attributes: "Dcqcn"; empty for 'none'
};

// In the order of the enumeration.
const std::vector<CongestionAlgorithm>& CongestionAlgorithms();

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_FABRIC_TRANSPORT_ATTRIBUTE_TABLE_H_
