// Reads a key whose value names an enumerator.
#ifndef DRYDOCK_CORE_SCHEMA_CLUSTER_READ_ENUM_H_
#define DRYDOCK_CORE_SCHEMA_CLUSTER_READ_ENUM_H_

#include <string>
#include <vector>

#include "core/base/yaml.h"

namespace drydock {

// Sets *choice to the value of `key`, or leaves it if the key is absent. `names` has the names of
// the enumerators in their order.
template <typename Enum>
void ReadEnum(const char* key, const std::vector<std::string>& names, YamlReader* reader,
              Enum* choice) {
  int index = static_cast<int>(*choice);
  reader->ReadChoice(key, names, &index, /*required=*/false);
  *choice = static_cast<Enum>(index);
}

}  // namespace drydock

#endif  // DRYDOCK_CORE_SCHEMA_CLUSTER_READ_ENUM_H_
