#include "capture/hackcuda/dnn/work.h"

#include "capture/hackcuda/device/log.h"
#include "capture/hackcuda/device/streams.h"

namespace drydock::hackcuda {
namespace {

constexpr const char* kLibrary = "cudnn";

}  // namespace

void LogAttention(const Attention& a, const void* stream) {
  Log(EntryKind::kAttention, {NameNumber(kLibrary), a.is_backward ? 1 : 0, a.batch, a.heads,
                              a.heads_kv, a.queries, a.keys, a.depth, a.depth_v, a.type,
                              a.is_causal ? 1 : 0, a.has_dropout ? 1 : 0, StreamNumber(stream)});
}

void LogConvolution(const Convolution& c, const void* stream) {
  Log(EntryKind::kConvolution, {NameNumber(kLibrary),
                                static_cast<int64_t>(c.direction),
                                c.batch,
                                c.groups,
                                c.in_channels,
                                c.out_channels,
                                c.dimensions,
                                c.in[0],
                                c.in[1],
                                c.in[2],
                                c.kernel[0],
                                c.kernel[1],
                                c.kernel[2],
                                c.stride[0],
                                c.stride[1],
                                c.stride[2],
                                c.dilation[0],
                                c.dilation[1],
                                c.dilation[2],
                                c.out[0],
                                c.out[1],
                                c.out[2],
                                c.type_in,
                                c.type_out,
                                c.compute,
                                c.channels_last ? 1 : 0,
                                c.other_bytes,
                                StreamNumber(stream)});
}

void LogTraffic(const char* library, const std::string& operation, int64_t bytes,
                const void* stream) {
  Log(EntryKind::kTraffic,
      {NameNumber(library), NameNumber(operation), bytes, StreamNumber(stream)});
}

}  // namespace drydock::hackcuda
