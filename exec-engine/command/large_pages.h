// Memory in large pages. A replay of a thousand ranks touches tens of megabytes in random order.
// With pages of 4 KiB, most accesses would also miss the TLB.
#ifndef DRYDOCK_EXEC_ENGINE_COMMAND_LARGE_PAGES_H_
#define DRYDOCK_EXEC_ENGINE_COMMAND_LARGE_PAGES_H_

namespace drydock {

// Requests large pages for later allocations of this thread. The system may silently refuse; only
// speed depends on it. Call it at the beginning of main.
void PreferLargePages();

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_COMMAND_LARGE_PAGES_H_
