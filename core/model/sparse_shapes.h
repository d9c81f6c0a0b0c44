// Shapes of sparse attention in cuDNN's and FlashMLA's kernels, as Megatron-LM @d98e8a64 calls them
// (core/transformer/experimental_attention_variant/dsa_cudnn_kernels.py).
#ifndef DRYDOCK_CORE_MODEL_SPARSE_SHAPES_H_
#define DRYDOCK_CORE_MODEL_SPARSE_SHAPES_H_

#include <algorithm>
#include <cstdint>

#include "core/model/submodule.h"

namespace drydock {

// The most bytes of scores in fp32 that a piece of the queries may have
// (_INDEXER_SCORE_CHUNK_MAX_BYTES), and the rows to which a piece is rounded
// (_INDEXER_SCORE_CHUNK_ROW_ALIGNMENT).
inline constexpr int64_t kScoreChunkBytes = int64_t{1} << 30;
inline constexpr int64_t kScoreChunkRows = 512;

// The rows of `row_bytes` that fit in a piece of at most `bytes`.
inline int64_t RowsOfChunk(int64_t bytes, int64_t row_bytes) {
  const int64_t most = std::max(int64_t{1}, bytes / row_bytes);
  return most >= kScoreChunkRows ? most / kScoreChunkRows * kScoreChunkRows : most;
}

// The pieces of queries that are scored one after another, all sequences of a batch together.
inline int64_t ScoreChunks(const submodule::SparseWork& s) {
  const int64_t rows = std::max(int64_t{1}, s.rows / s.sequences());
  const int64_t most = RowsOfChunk(kScoreChunkBytes, 4 * s.all_keys());
  return (rows + most - 1) / most;
}

// FlashMLA runs 64 heads, or multiples of 64 on Hopper and of 128 on Blackwell, and TileLang's
// kernels at least 16. Jobs with other numbers of heads are refused.
inline int64_t PaddedHeads(const submodule::SparseAttention& s) {
  return s.tilelang ? std::max(int64_t{16}, s.heads) : (s.heads + 63) / 64 * 64;
}

}  // namespace drydock

#endif  // DRYDOCK_CORE_MODEL_SPARSE_SHAPES_H_
