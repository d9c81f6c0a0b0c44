// What the descriptors of cuDNN's backend interface hold: attributes by number, each a list of
// values or of other descriptors' contents.
#ifndef DRYDOCK_CAPTURE_HACKCUDA_DNN_CONTENT_H_
#define DRYDOCK_CAPTURE_HACKCUDA_DNN_CONTENT_H_

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "capture/hackcuda/dnn/abi.h"

namespace drydock::hackcuda::dnn {

struct Content;
using ContentRef = std::shared_ptr<const Content>;

// The values of one attribute.
struct Values {
  int type = 0;
  int64_t count = 0;
  std::vector<char> bytes;           // of types that are no descriptors
  std::vector<ContentRef> contents;  // of kDescriptor
};

struct Content {
  int kind = 0;
  std::map<int, Values> attributes;

  bool Has(int attribute) const { return attributes.count(attribute) != 0; }
  // The first value of an attribute of kInt64, or the default.
  int64_t Integer(int attribute, int64_t otherwise) const;
  // All values of an attribute of kInt64.
  std::vector<int64_t> Integers(int attribute) const;
  // The first value of an attribute whose type takes four bytes, or of kBoolean.
  int Number(int attribute, int otherwise) const;
  // The first descriptor of an attribute, or null.
  const Content* Descriptor(int attribute) const;
};

// Bytes of a value of this cudnnBackendAttributeType_t; 0: no such type.
size_t BytesOfType(int type);

}  // namespace drydock::hackcuda::dnn

#endif  // DRYDOCK_CAPTURE_HACKCUDA_DNN_CONTENT_H_
