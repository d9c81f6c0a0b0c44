// Reads a field of a submodule of any kind by its name, for tests that walk mixed submodules.
#ifndef DRYDOCK_CORE_SCHEMA_TESTING_SUBMODULE_TESTING_H_
#define DRYDOCK_CORE_SCHEMA_TESTING_SUBMODULE_TESTING_H_

#include <string_view>

#include "core/model/submodule.h"

namespace drydock {

// Returns the extent or flag called `name` in artefacts, or 0 if the kind of the submodule has no
// such field.
inline int64_t FieldOf(const Submodule& submodule, std::string_view name) {
  int64_t found = 0;
  ForEachField(submodule.work, [&](submodule::Field, std::string_view field, const auto& value) {
    if (field == name) found = static_cast<int64_t>(value);
  });
  return found;
}

}  // namespace drydock

#endif  // DRYDOCK_CORE_SCHEMA_TESTING_SUBMODULE_TESTING_H_
