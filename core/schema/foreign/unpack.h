// Files that may be packed with gzip, as traces of other tools often are.
#ifndef DRYDOCK_CORE_SCHEMA_FOREIGN_UNPACK_H_
#define DRYDOCK_CORE_SCHEMA_FOREIGN_UNPACK_H_

#include <string>

#include "core/base/result.h"

namespace drydock {

// Reads a file as ReadFile does. If it begins as gzip does, returns its unpacked content, of at
// most 4 GiB; several packed parts, one after another, are one content. Errors name the file.
Result<std::string> ReadUnpacked(const std::string& path);

}  // namespace drydock

#endif  // DRYDOCK_CORE_SCHEMA_FOREIGN_UNPACK_H_
