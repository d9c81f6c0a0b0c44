// Whether a file can be written, checked before the work that makes its content.
#ifndef DRYDOCK_CORE_BASE_WRITABLE_H_
#define DRYDOCK_CORE_BASE_WRITABLE_H_

#include <string>

#include "core/base/result.h"

namespace drydock {

// Returns the error that writing the file, and making its directories, is going to have, as far as
// it is known in advance. Changes nothing.
Status CheckCanWrite(const std::string& path);

}  // namespace drydock

#endif  // DRYDOCK_CORE_BASE_WRITABLE_H_
