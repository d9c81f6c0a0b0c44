// Matrix products and convolutions of a captured program in compute-sim's terms. Types that no
// model of kernels knows (fp64, complex numbers, integers) are FlopsAndBytes.
#ifndef DRYDOCK_CAPTURE_KERNELS_PRODUCTS_H_
#define DRYDOCK_CAPTURE_KERNELS_PRODUCTS_H_

#include <cstdint>
#include <span>

#include "core/model/submodule.h"

namespace drydock::capture {

// A product of cuBLAS: column-major matrices, types by cudaDataType, as in the log
// (hackcuda/products/product.h).
struct LoggedProduct {
  int64_t m = 0, n = 0, k = 0, batch = 1;
  bool transpose_a = false, transpose_b = false;
  int type_a = 0, type_b = 0, type_d = 0;
  int compute = 0, epilogue = 1, scales = 0;
};
// Reads the words of a kProduct entry.
LoggedProduct ProductOf(std::span<const int64_t> words);

// The type of the operands, of those that a model of kernels knows.
DataType TypeOfProduct(const LoggedProduct& product);

// Returns a submodule without a name. A batch of products becomes one grouped linear.
// `is_backward`: autograd computes the product in the backward pass; a recomputed forward pass does
// not count. REQUIRES: no extent is 0.
Submodule ProductSubmodule(const LoggedProduct& product, bool is_backward);

// Reads the words of a kConvolution entry. A convolution is the product that its kernel computes
// implicitly, or traffic if its groups are too narrow for tensor cores.
Submodule LoggedConvolution(std::span<const int64_t> words);

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_KERNELS_PRODUCTS_H_
