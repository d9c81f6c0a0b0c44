// Copies and fills, of both libcudart and libcuda.
#ifndef DRYDOCK_CAPTURE_HACKCUDA_DEVICE_COPIES_H_
#define DRYDOCK_CAPTURE_HACKCUDA_DEVICE_COPIES_H_

#include <cstddef>

namespace drydock::hackcuda {

// Whether the host waits for the copy. An asynchronous copy from or to memory that is not pinned
// returns only once that memory has been read or written (CUDA Runtime API, "API synchronization
// behavior").
enum class Waits { kNever, kIfNotPinned, kAlways };

void Copy(void* to, const void* from, size_t bytes, const void* stream, Waits waits);
void CopyRows(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
              size_t rows, const void* stream);
void Fill(void* to, int value, size_t bytes, const void* stream);

}  // namespace drydock::hackcuda

#endif  // DRYDOCK_CAPTURE_HACKCUDA_DEVICE_COPIES_H_
