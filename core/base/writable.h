// Whether a file could be written, asked before the work that makes it.
#ifndef DRYDOCK_CORE_BASE_WRITABLE_H_
#define DRYDOCK_CORE_BASE_WRITABLE_H_

#include <string>

#include "core/base/result.h"

namespace drydock {

// The error that writing the file, and making the directories it lies in, would end with, as far as
// it can be told without doing so. Leaves nothing behind.
Status CheckCanWrite(const std::string& path);

}  // namespace drydock

#endif  // DRYDOCK_CORE_BASE_WRITABLE_H_
