// Memory in large pages. A replay of a thousand ranks touches tens of megabytes from one event to
// the next, in no order: in pages of 4 KiB, each touch is a search of the page tables as well.
#ifndef DRYDOCK_EXEC_ENGINE_COMMAND_LARGE_PAGES_H_
#define DRYDOCK_EXEC_ENGINE_COMMAND_LARGE_PAGES_H_

namespace drydock {

// Asks for large pages for what this thread allocates from now on. The system may refuse, and need
// not say so: nothing but speed depends on it. For the beginning of main.
void PreferLargePages();

}  // namespace drydock

#endif  // DRYDOCK_EXEC_ENGINE_COMMAND_LARGE_PAGES_H_
