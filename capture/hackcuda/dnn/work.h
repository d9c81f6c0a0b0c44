// What cuDNN computes, as it enters the log.
//
// Types are numbers of cudaDataType, as products have them (products/product.h).
#ifndef DRYDOCK_CAPTURE_HACKCUDA_DNN_WORK_H_
#define DRYDOCK_CAPTURE_HACKCUDA_DNN_WORK_H_

#include <cstdint>
#include <string>

namespace drydock::hackcuda {

// softmax(Q K^T) V in one kernel; backward: the gradients of all three.
struct Attention {
  bool is_backward = false;
  int64_t batch = 0, heads = 0, heads_kv = 0;
  int64_t queries = 0, keys = 0;   // positions
  int64_t depth = 0, depth_v = 0;  // elements of a head: of Q and K, of V
  int type = 0;
  bool is_causal = false, has_dropout = false;
};

enum class Direction : int { kForward, kDataGradient, kWeightGradient };

// A convolution in up to three dimensions; the first `dimensions` elements of the arrays count.
struct Convolution {
  static constexpr int kMaxDimensions = 3;
  Direction direction = Direction::kForward;
  int64_t batch = 0, groups = 1;
  int64_t in_channels = 0, out_channels = 0;  // of all groups
  int dimensions = 0;
  // Extents of x, of the kernel and of y, whatever the direction.
  int64_t in[kMaxDimensions] = {1, 1, 1}, kernel[kMaxDimensions] = {1, 1, 1};
  int64_t stride[kMaxDimensions] = {1, 1, 1}, dilation[kMaxDimensions] = {1, 1, 1};
  int64_t out[kMaxDimensions] = {1, 1, 1};
  int type_in = 0, type_out = 0;
  int compute = 0;  // as of products: 68 fp32, 77 tf32
  bool channels_last = false;
  int64_t other_bytes = 0;  // of tensors that the same kernel reads or writes besides
};

void LogAttention(const Attention& attention, const void* stream);
void LogConvolution(const Convolution& convolution, const void* stream);
// Work that memory limits: `bytes` read and written.
void LogTraffic(const char* library, const std::string& operation, int64_t bytes,
                const void* stream);

}  // namespace drydock::hackcuda

#endif  // DRYDOCK_CAPTURE_HACKCUDA_DNN_WORK_H_
