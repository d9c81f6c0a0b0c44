// Reads XML as NCCL's topology files use it: elements and attributes without text between them.
// libexpat checks that the XML is well-formed. Comments and processing instructions are skipped.
//
// Refuses, each with its place: a DOCTYPE, CDATA and text; more than kMaxXmlBytes, kMaxXmlElements
// or kMaxXmlDepth; a name or value longer than kMaxXmlValue; a value with a character that is not
// printable ASCII, or with a reference ('&').
#ifndef DRYDOCK_CORE_NCCL_XML_READER_H_
#define DRYDOCK_CORE_NCCL_XML_READER_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace drydock {

inline constexpr size_t kMaxXmlBytes = 4 << 20;
inline constexpr int kMaxXmlElements = 10'000;
inline constexpr int kMaxXmlDepth = 32;
inline constexpr size_t kMaxXmlValue = 250;  // NCCL reads 253

struct XmlAttribute {
  std::string name, value;
  Location location;
};

struct XmlElement {
  std::string name;
  std::vector<XmlAttribute> attributes;
  std::vector<XmlElement> children;
  Location location;
  // Returns null if the attribute is absent.
  const XmlAttribute* Find(std::string_view attribute) const;
};

struct XmlLimits {
  size_t bytes = kMaxXmlBytes;
  int elements = kMaxXmlElements;
};

// Returns the root element. Columns of locations count characters, not bytes.
Result<XmlElement> ParseXml(const std::string& text, const std::string& file_name,
                            const XmlLimits& limits = {});

// Returns the line that `location` is on, for a Diagnostic.
std::string LineOf(const std::string& text, const Location& location);

}  // namespace drydock

#endif  // DRYDOCK_CORE_NCCL_XML_READER_H_
