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
  template <typename Value>
  void SetValue(int attribute, Value value) {
    Set(attribute, &value, sizeof value);
  }
  template <typename Value = int>
  Value Number(int attribute, Value otherwise = 0) const {
    const auto it = values_.find(attribute);
    Value number = otherwise;
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
  Matmul(int compute, int scale_type) {
    SetValue(kCompute, compute);
    SetValue(kScaleType, scale_type);
    SetValue(kEpilogue, kNoEpilogue);
  }
  static constexpr int kCompute = 0, kScaleType = 1, kTransposeA = 3, kTransposeB = 4,
                       kEpilogue = 7, kScaleModeA = 31;
  static constexpr int kNoEpilogue = 1;
};

// cublasLtMatrixLayout_t.
struct Layout : Attributes {
  Layout(int type, uint64_t rows, uint64_t columns, int64_t leading) {
    SetValue(kType, type);
    SetValue(kRows, rows);
    SetValue(kColumns, columns);
    SetValue(kLeading, leading);
    SetValue(kBatchCount, 1);
  }
  static constexpr int kType = 0, kRows = 2, kColumns = 3, kLeading = 4, kBatchCount = 5;
};

// cublasLtMatmulHeuristicResult_t.
struct Heuristic {
  uint64_t algorithm[8];
  size_t workspace_bytes;
  int status;
  float waves;
  int reserved[4];
};

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
  *descriptor = new Matmul(compute, scale_type);
  return kCublasSuccess;
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
                                               uint64_t columns, int64_t leading) {
  *layout = new Layout(type, rows, columns, leading);
  return kCublasSuccess;
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

HACKCUDA_EXPORT int cublasLtMatmulPreferenceGetAttribute(const void* preference, int attribute,
                                                         void* value, size_t bytes,
                                                         size_t* written) {
  return static_cast<const Attributes*>(preference)->Get(attribute, value, bytes, written);
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
  p.transpose_a = own.Number(Matmul::kTransposeA);
  p.transpose_b = own.Number(Matmul::kTransposeB);
  p.m = d.Number<int64_t>(Layout::kRows);
  p.n = d.Number<int64_t>(Layout::kColumns);
  p.k = a.Number<int64_t>(p.transpose_a != 0 ? Layout::kRows : Layout::kColumns);
  p.batch = d.Number(Layout::kBatchCount, 1);
  p.type_a = a.Number(Layout::kType);
  p.type_b = b.Number(Layout::kType);
  p.type_d = d.Number(Layout::kType);
  p.type_c =
      layout_c != nullptr ? static_cast<const Layout*>(layout_c)->Number(Layout::kType) : p.type_d;
  p.compute = own.Number(Matmul::kCompute);
  p.epilogue = own.Number(Matmul::kEpilogue, Matmul::kNoEpilogue);
  p.scales = own.Number(Matmul::kScaleModeA);
  LogProduct("cublasLt", p, stream);
  return kCublasSuccess;
}

}  // namespace drydock::hackcuda
