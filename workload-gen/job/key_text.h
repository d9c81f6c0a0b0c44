// The table of keys as reference text: Markdown for docs/reference/model-keys.md, and plain text.
#ifndef DRYDOCK_WORKLOAD_GEN_JOB_KEY_TEXT_H_
#define DRYDOCK_WORKLOAD_GEN_JOB_KEY_TEXT_H_

#include <string>

#include "core/base/result.h"

namespace drydock {

// The reference page: a table per section.
std::string KeysAsMarkdown();

// All keys, those of the section `name`, or the key `name` ("model.layers"). "" names all keys. An
// error with the nearest name if there is no such section or key.
Result<std::string> KeysAsText(const std::string& name);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_JOB_KEY_TEXT_H_
