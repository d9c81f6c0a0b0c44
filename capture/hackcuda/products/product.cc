#include "capture/hackcuda/products/product.h"

#include "capture/hackcuda/device/log.h"
#include "capture/hackcuda/device/streams.h"

namespace drydock::hackcuda {

void LogProduct(const char* library, const Product& p, const void* stream) {
  Log(EntryKind::kProduct,
      {NameNumber(library), p.m, p.n, p.k, p.batch, p.transpose_a, p.transpose_b, p.type_a,
       p.type_b, p.type_c, p.type_d, p.compute, p.epilogue, p.scales, StreamNumber(stream)});
}

}  // namespace drydock::hackcuda
