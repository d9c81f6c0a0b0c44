#include "capture/hackcuda/dnn/content.h"

#include <cstring>

namespace drydock::hackcuda::dnn {

size_t BytesOfType(int type) {
  switch (type) {
    case kHandleType:
    case kInt64:
    case kDouble:
    case kPointer:
    case kDescriptor:
      return 8;
    case kBoolean:
    case kChar:
      return 1;
    case kFraction:
      return 16;  // numerator and denominator
    default:
      return type >= 0 && type < kTypes ? 4 : 0;
  }
}

std::vector<int64_t> Content::Integers(int attribute) const {
  const auto it = attributes.find(attribute);
  if (it == attributes.end() || it->second.type != kInt64) return {};
  std::vector<int64_t> values(static_cast<size_t>(it->second.count));
  memcpy(values.data(), it->second.bytes.data(), it->second.bytes.size());
  return values;
}

int64_t Content::Integer(int attribute, int64_t otherwise) const {
  const std::vector<int64_t> values = Integers(attribute);
  return values.empty() ? otherwise : values.front();
}

int Content::Number(int attribute, int otherwise) const {
  const auto it = attributes.find(attribute);
  if (it == attributes.end() || it->second.count == 0) return otherwise;
  if (it->second.type == kBoolean) return it->second.bytes.front() != 0 ? 1 : 0;
  if (BytesOfType(it->second.type) != sizeof(int)) return otherwise;
  int number;
  memcpy(&number, it->second.bytes.data(), sizeof number);
  return number;
}

const Content* Content::Descriptor(int attribute) const {
  const auto it = attributes.find(attribute);
  if (it == attributes.end() || it->second.contents.empty()) return nullptr;
  return it->second.contents.front().get();
}

}  // namespace drydock::hackcuda::dnn
