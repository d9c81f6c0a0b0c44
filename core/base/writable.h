// Whether a file can be written, checked before the work that makes its content.
#ifndef DRYDOCK_CORE_BASE_WRITABLE_H_
#define DRYDOCK_CORE_BASE_WRITABLE_H_

#include <string>

#include "core/base/result.h"

namespace drydock {

// Returns the error that creating the file and its directories would have, as far as it can be
// known in advance. Changes nothing.
Status CheckCanWrite(const std::string& path);

}  // namespace drydock

#endif  // DRYDOCK_CORE_BASE_WRITABLE_H_
