// Where a JSON text of another tool is wrong.
#ifndef DRYDOCK_CORE_SCHEMA_FOREIGN_JSON_PLACE_H_
#define DRYDOCK_CORE_SCHEMA_FOREIGN_JSON_PLACE_H_

#include <cstddef>
#include <string>

#include "core/base/result.h"

namespace drydock {

// Returns line and column of a byte as nlohmann::json::parse_error counts them, from 1; 0 is the
// begin of the text.
Location JsonPlace(const std::string& text, const std::string& path, size_t byte);

}  // namespace drydock

#endif  // DRYDOCK_CORE_SCHEMA_FOREIGN_JSON_PLACE_H_
