// Marks what a stand-in exports. Everything else is hidden, so that a stand-in's own names meet no
// library of the program.
#ifndef DRYDOCK_CAPTURE_HACKCUDA_DEVICE_EXPORTS_H_
#define DRYDOCK_CAPTURE_HACKCUDA_DEVICE_EXPORTS_H_

#define HACKCUDA_EXPORT extern "C" __attribute__((visibility("default")))

// The version of the library that this stand-in takes the place of, as the library itself writes
// it: 12080 for CUDA's runtime 12.8, 120804 for cuBLAS 12.8.4, 91002 for cuDNN 9.10.2. The
// generated part of the stand-in defines it (capture/standins).
extern "C" __attribute__((visibility("hidden"))) const int hackcuda_version;

#endif  // DRYDOCK_CAPTURE_HACKCUDA_DEVICE_EXPORTS_H_
