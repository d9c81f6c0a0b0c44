// XML as NCCL's topology files use it: elements and attributes, nothing between them. Comments and
// declarations are passed over; text, entities and sections are refused.
//
// Refused as well, each with its place: more than kMostXmlBytes, kMostXmlElements or
// kMostXmlDepth; an element that is not closed or is closed by another's name; an attribute given
// twice; a name or value longer than kMostXmlValue, or with a character that is not printable
// ASCII.
#ifndef DRYDOCK_CORE_NCCL_XML_READER_H_
#define DRYDOCK_CORE_NCCL_XML_READER_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace drydock {

inline constexpr size_t kMostXmlBytes = 4 << 20;
inline constexpr int kMostXmlElements = 10'000;
inline constexpr int kMostXmlDepth = 32;
inline constexpr size_t kMostXmlValue = 250;  // NCCL reads 253

struct XmlAttribute {
  std::string name, value;
  Location location;
};

struct XmlElement {
  std::string name;
  std::vector<XmlAttribute> attributes;
  std::vector<XmlElement> children;
  Location location;
  // Null if absent.
  const XmlAttribute* Find(std::string_view attribute) const;
};

// The one element that holds all others.
Result<XmlElement> ParseXml(const std::string& text, const std::string& file_name);

// The line `location` is on, for a Diagnostic.
std::string LineOf(const std::string& text, const Location& location);

}  // namespace drydock

#endif  // DRYDOCK_CORE_NCCL_XML_READER_H_
