// libcublasLt: descriptors keep what programs set, one algorithm fits every product, and a product
// is an entry of the log.
#include <cstring>
#include <map>
#include <vector>

#include "capture/hackcuda/device/exports.h"
#include "capture/hackcuda/products/product.h"

namespace drydock::hackcuda {
namespace {

// What programs set, by the number of the attribute.
class Attributes {
 public:
  int Set(int attribute, const void* value, size_t bytes) {
    const char* from = static_cast<const char*>(value);
    values_[attribute].assign(from, from + bytes);
    return kCublasSuccess;
  }
  int Get(int attribute, void* value, size_t bytes, size_t* written) const {
    const auto it = values_.find(attribute);
    const size_t size = it == values_.end() ? bytes : it->second.size();
    if (written != nullptr) *written = size;
    if (value == nullptr) return kCublasSuccess;
    if (bytes < size) return kCublasInvalidValue;
    memset(value, 0, bytes);
    if (it != values_.end()) memcpy(value, it->second.data(), size);
    return kCublasSuccess;
  }
  int Number(int attribute, int otherwise) const {
    const auto it = values_.find(attribute);
    int number = otherwise;
    if (it != values_.end() && it->second.size() >= sizeof number) {
      memcpy(&number, it->second.data(), sizeof number);
    }
    return number;
  }

 private:
  std::map<int, std::vector<char>> values_;
};

// cublasLtMatmulDesc_t. Attributes of the same names.
struct Matmul : Attributes {
  int compute = 0, scale_type = 0;
};
constexpr int kTransposeA = 3, kTransposeB = 4, kEpilogue = 7, kScaleModeA = 31;

// cublasLtMatrixLayout_t.
struct Layout : Attributes {
  int type = 0;
  uint64_t rows = 0, columns = 0;
};
constexpr int kBatchCount = 5;

// cublasLtMatmulHeuristicResult_t.
struct Heuristic {
  uint64_t algorithm[8];
  size_t workspace_bytes;
  int status;
  float waves;
  int reserved[4];
};

template <typename Own, typename... Values>
int Make(void** handle, Values... values) {
  *handle = new Own{{}, values...};
  return kCublasSuccess;
}

}  // namespace

HACKCUDA_EXPORT int cublasLtCreate(void** handle) {
  *handle = new char;
  return kCublasSuccess;
}
HACKCUDA_EXPORT int cublasLtDestroy(void* handle) {
  delete static_cast<char*>(handle);
  return kCublasSuccess;
}
HACKCUDA_EXPORT size_t cublasLtGetVersion() { return static_cast<size_t>(hackcuda_version); }
HACKCUDA_EXPORT size_t cublasLtGetCudartVersion() {
  return static_cast<size_t>(hackcuda_version / 100 * 10);
}

HACKCUDA_EXPORT int cublasLtMatmulDescCreate(void** descriptor, int compute, int scale_type) {
  return Make<Matmul>(descriptor, compute, scale_type);
}
HACKCUDA_EXPORT int cublasLtMatmulDescDestroy(void* descriptor) {
  delete static_cast<Matmul*>(descriptor);
  return kCublasSuccess;
}
HACKCUDA_EXPORT int cublasLtMatmulDescSetAttribute(void* descriptor, int attribute,
                                                   const void* value, size_t bytes) {
  return static_cast<Matmul*>(descriptor)->Set(attribute, value, bytes);
}
HACKCUDA_EXPORT int cublasLtMatmulDescGetAttribute(const void* descriptor, int attribute,
                                                   void* value, size_t bytes, size_t* written) {
  return static_cast<const Matmul*>(descriptor)->Get(attribute, value, bytes, written);
}

HACKCUDA_EXPORT int cublasLtMatrixLayoutCreate(void** layout, int type, uint64_t rows,
                                               uint64_t columns, int64_t) {
  return Make<Layout>(layout, type, rows, columns);
}
HACKCUDA_EXPORT int cublasLtMatrixLayoutDestroy(void* layout) {
  delete static_cast<Layout*>(layout);
  return kCublasSuccess;
}
HACKCUDA_EXPORT int cublasLtMatrixLayoutSetAttribute(void* layout, int attribute, const void* value,
                                                     size_t bytes) {
  return static_cast<Layout*>(layout)->Set(attribute, value, bytes);
}
HACKCUDA_EXPORT int cublasLtMatrixLayoutGetAttribute(const void* layout, int attribute, void* value,
                                                     size_t bytes, size_t* written) {
  return static_cast<const Layout*>(layout)->Get(attribute, value, bytes, written);
}

HACKCUDA_EXPORT int cublasLtMatmulPreferenceCreate(void** preference) {
  *preference = new Attributes;
  return kCublasSuccess;
}
HACKCUDA_EXPORT int cublasLtMatmulPreferenceDestroy(void* preference) {
  delete static_cast<Attributes*>(preference);
  return kCublasSuccess;
}
HACKCUDA_EXPORT int cublasLtMatmulPreferenceSetAttribute(void* preference, int attribute,
                                                         const void* value, size_t bytes) {
  return static_cast<Attributes*>(preference)->Set(attribute, value, bytes);
}

HACKCUDA_EXPORT int cublasLtMatmulAlgoGetHeuristic(void*, void*, void*, void*, void*, void*, void*,
                                                   int asked, Heuristic* results, int* count) {
  *count = asked > 0 ? 1 : 0;
  if (asked > 0) *results = {};
  return kCublasSuccess;
}

HACKCUDA_EXPORT int cublasLtMatmul(void*, const void* descriptor, const void*, const void*,
                                   const void* layout_a, const void*, const void* layout_b,
                                   const void*, const void*, const void* layout_c, void*,
                                   const void* layout_d, const void*, void*, size_t,
                                   const void* stream) {
  const auto& own = *static_cast<const Matmul*>(descriptor);
  const auto& a = *static_cast<const Layout*>(layout_a);
  const auto& b = *static_cast<const Layout*>(layout_b);
  const auto& d = *static_cast<const Layout*>(layout_d);
  Product p;
  p.transpose_a = own.Number(kTransposeA, 0);
  p.transpose_b = own.Number(kTransposeB, 0);
  p.m = static_cast<int64_t>(d.rows);
  p.n = static_cast<int64_t>(d.columns);
  p.k = static_cast<int64_t>(p.transpose_a != 0 ? a.rows : a.columns);
  p.batch = d.Number(kBatchCount, 1);
  p.type_a = a.type;
  p.type_b = b.type;
  p.type_c = layout_c != nullptr ? static_cast<const Layout*>(layout_c)->type : d.type;
  p.type_d = d.type;
  p.compute = own.compute;
  p.epilogue = own.Number(kEpilogue, 1);
  p.scales = own.Number(kScaleModeA, 0);
  LogProduct("cublasLt", p, stream);
  return kCublasSuccess;
}

}  // namespace drydock::hackcuda
