// The words of each kind of entry, by name (entry.h).
#ifndef DRYDOCK_CAPTURE_LOG_FIELDS_H_
#define DRYDOCK_CAPTURE_LOG_FIELDS_H_

#include <string>
#include <vector>

#include "capture/log/entry.h"

namespace drydock::capture {

struct Field {
  std::string name;
  bool is_name = false;  // the word is the number of a text
};

// In the order of the words.
const std::vector<Field>& FieldsOfKind(EntryKind kind);

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_LOG_FIELDS_H_
