// Finds functions of libcuda's stand-in by name, as programs ask the driver for them.
#ifndef DRYDOCK_CAPTURE_HACKCUDA_DEVICE_ENTRY_POINTS_H_
#define DRYDOCK_CAPTURE_HACKCUDA_DEVICE_ENTRY_POINTS_H_

namespace drydock::hackcuda {

// Returns the newest function of this name ("cuMemcpy": cuMemcpy_v2), or null.
void* DriverFunction(const char* name);

}  // namespace drydock::hackcuda

#endif  // DRYDOCK_CAPTURE_HACKCUDA_DEVICE_ENTRY_POINTS_H_
