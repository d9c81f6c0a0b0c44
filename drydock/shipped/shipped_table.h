// What ships, as tables for a terminal.
#ifndef DRYDOCK_DRYDOCK_SHIPPED_SHIPPED_TABLE_H_
#define DRYDOCK_DRYDOCK_SHIPPED_SHIPPED_TABLE_H_

#include <string>

#include "core/base/result.h"

namespace drydock {

// A line for each GPU: memory, its bandwidth, dense rates of 16-bit and fp8 products, NVLink (one
// direction), and whence its kernel times come. Errors: a file cannot be read.
Result<std::string> GpuTable();
// A line for each cluster: hosts, GPUs, NICs of a host and their rate, fabric.
Result<std::string> ClusterTable();
// A line for each model: its name and file.
Result<std::string> ModelTable();

}  // namespace drydock

#endif  // DRYDOCK_DRYDOCK_SHIPPED_SHIPPED_TABLE_H_
