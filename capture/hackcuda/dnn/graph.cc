#include "capture/hackcuda/dnn/graph.h"

#include <algorithm>
#include <map>
#include <set>

namespace drydock::hackcuda::dnn {
namespace {

const char* NameOf(int kind) {
  switch (kind) {
    case kConvolutionForward:
    case kConvolutionBackwardFilter:
    case kConvolutionBackwardData:
      return "convolution";
    case kPointwiseOperation:
      return "pointwise";
    case kStatistics:
      return "statistics";
    case kMatmulOperation:
      return "matmul";
    case kBatchNormFinalize:
      return "batch-norm-finalize";
    case kReductionOperation:
      return "reduction";
    case kBatchNormWeights:
      return "batch-norm-weights";
    case kResampleForward:
      return "resample";
    case kResampleBackward:
      return "resample-backward";
    case kConcatenation:
      return "concatenation";
    case kNormForward:
      return "norm";
    case kNormBackward:
      return "norm-backward";
    case kReshape:
      return "reshape";
    case kRandom:
      return "random";
    case kPagedLoad:
      return "paged-load";
    case kBlockQuantize:
      return "quantize";
    case kBlockDequantize:
      return "dequantize";
    case kExpandBand:
      return "expand-band";
    case kContractBand:
      return "contract-band";
    case kAttentionForward:
      return "attention";
    case kAttentionBackward:
      return "attention-backward";
    case kBandMask:
      return "band-mask";
    case kSoftmax:
      return "softmax";
    default:
      return nullptr;
  }
}

bool IsInMemory(const Content& tensor) {
  return tensor.Number(kTensorIsVirtual, 0) == 0 && tensor.Number(kTensorIsByValue, 0) == 0;
}

// Several descriptors may describe one tensor.
int64_t NumberOf(const Content& tensor) { return tensor.Integer(kTensorNumber, 0); }

int64_t BytesOf(const Content& tensor) {
  int64_t elements = 1;
  for (const int64_t extent : tensor.Integers(kTensorDimensions)) elements *= extent;
  return elements * BitsOf(tensor.Number(kTensorType, 0)) / 8;
}

int TypeOf(const Content& tensor) { return DataTypeOf(tensor.Number(kTensorType, 0)); }

// The extent of a dimension; 1 beyond the last.
int64_t Extent(const std::vector<int64_t>& extents, size_t place) {
  return place < extents.size() ? extents[place] : 1;
}

// Of the type in which cuDNN computes, a cudnnDataType_t.
int ComputeOf(int type) {
  switch (DataTypeOf(type)) {
    case 1:
      return kComputeFp64;
    case 2:
      return kComputeFp16;
    case 10:
      return kComputeInt32;
    default:
      return kComputeFp32;
  }
}

class Reader {
 public:
  explicit Reader(const Content& graph) {
    const auto it = graph.attributes.find(kGraphOperations);
    if (it == graph.attributes.end()) return;
    for (const ContentRef& operation : it->second.contents) operations_.push_back(operation.get());
  }

  GraphWork Read() {
    for (const Content* operation : operations_) {
      const char* name = NameOf(operation->kind);
      if (name == nullptr) {
        work_.not_understood = "an operation of kind " + std::to_string(operation->kind);
        return work_;
      }
      if (work_.operation.find(name) == std::string::npos) {
        work_.operation += (work_.operation.empty() ? "" : "+") + std::string(name);
      }
      AddTensors(*operation);
    }
    for (const auto& [_, tensor] : in_memory_) work_.bytes += BytesOf(*tensor);
    if (ReadAttention()) return work_;
    for (const Content* operation : operations_) {
      if (operation->kind == kMatmulOperation) ReadProduct(*operation);
      if (operation->kind == kConvolutionForward) {
        ReadConvolution(*operation, Direction::kForward, kForwardConvolution, kForwardX, kForwardW,
                        kForwardY);
      }
      if (operation->kind == kConvolutionBackwardData) {
        ReadConvolution(*operation, Direction::kDataGradient, kDataConvolution, kDataDx, kDataW,
                        kDataDy);
      }
      if (operation->kind == kConvolutionBackwardFilter) {
        ReadConvolution(*operation, Direction::kWeightGradient, kFilterConvolution, kFilterX,
                        kFilterDw, kFilterDy);
      }
    }
    return work_;
  }

 private:
  void AddTensors(const Content& operation) {
    for (const auto& [_, values] : operation.attributes) {
      for (const ContentRef& content : values.contents) {
        if (content->kind != kTensor || !IsInMemory(*content)) continue;
        in_memory_.emplace(NumberOf(*content), content.get());
      }
    }
  }

  int CountOf(int kind) const {
    return static_cast<int>(
        std::count_if(operations_.begin(), operations_.end(),
                      [kind](const Content* operation) { return operation->kind == kind; }));
  }
  int CountOfPointwise(int mode) const {
    return static_cast<int>(
        std::count_if(operations_.begin(), operations_.end(), [mode](const Content* operation) {
          const Content* own = operation->Descriptor(kPointwiseDescriptor);
          return operation->kind == kPointwiseOperation && own != nullptr &&
                 own->Number(kPointwiseMode, -1) == mode;
        }));
  }

  // `k`: as the operation has it; the product of Q by K transposed has it turned.
  void SetAttention(const Content& q, const Content& k, int64_t keys, int64_t depth_v,
                    bool is_backward) {
    const std::vector<int64_t> query = q.Integers(kTensorDimensions);
    Attention& a = work_.attention.emplace_back();
    a.is_backward = is_backward;
    a.batch = Extent(query, 0);
    a.heads = Extent(query, 1);
    a.heads_kv = Extent(k.Integers(kTensorDimensions), 1);
    a.queries = Extent(query, 2);
    a.keys = keys;
    a.depth = Extent(query, 3);
    a.depth_v = depth_v;
    a.type = TypeOf(q);
    // The mask compares the index of a query with that of a key.
    a.is_causal = CountOf(kBandMask) > 0 ||
                  (CountOfPointwise(kIndex) >= 2 && CountOfPointwise(kIsGreaterOrEqual) > 0);
    a.has_dropout = CountOf(kRandom) > 0;
  }

  bool ReadAttention() {
    for (const Content* operation : operations_) {
      const bool is_backward = operation->kind == kAttentionBackward;
      if (!is_backward && operation->kind != kAttentionForward) continue;
      const Content* q = operation->Descriptor(is_backward ? kGradientQ : kAttentionQ);
      const Content* k = operation->Descriptor(is_backward ? kGradientK : kAttentionK);
      const Content* v = operation->Descriptor(is_backward ? kGradientV : kAttentionV);
      if (q == nullptr || k == nullptr || v == nullptr) {
        work_.not_understood = "an attention without Q, K or V";
        return true;
      }
      SetAttention(*q, *k, Extent(k->Integers(kTensorDimensions), 2),
                   Extent(v->Integers(kTensorDimensions), 3), is_backward);
      return true;
    }
    // As separate operations: Q by K transposed, a softmax, and products with what it gives.
    constexpr int kForwardProducts = 2, kBackwardProducts = 5;
    const int products = CountOf(kMatmulOperation);
    const bool has_softmax = CountOfPointwise(kExp) > 0 || CountOf(kSoftmax) > 0;
    if ((products != kForwardProducts && products != kBackwardProducts) || !has_softmax) {
      return false;
    }
    // Backward, two products take both of their factors from memory: this one, and then the
    // gradient of the output by V transposed.
    const Content *scores = nullptr, *last = nullptr;
    for (const Content* operation : operations_) {
      if (operation->kind != kMatmulOperation) continue;
      const Content *a = operation->Descriptor(kMatmulA), *b = operation->Descriptor(kMatmulB);
      if (a == nullptr || b == nullptr) return false;
      if (scores == nullptr) {
        scores = operation;
      } else if (products == kForwardProducts || (IsInMemory(*a) && IsInMemory(*b))) {
        last = operation;
      }
    }
    if (last == nullptr) last = scores;
    const Content *q = scores->Descriptor(kMatmulA), *k = scores->Descriptor(kMatmulB);
    const bool is_backward = products == kBackwardProducts;
    const Content* with_v = last->Descriptor(is_backward ? kMatmulA : kMatmulB);
    SetAttention(*q, *k, Extent(k->Integers(kTensorDimensions), 3),
                 Extent(with_v->Integers(kTensorDimensions), 3), is_backward);
    return true;
  }

  void ReadProduct(const Content& operation) {
    const Content *a = operation.Descriptor(kMatmulA), *b = operation.Descriptor(kMatmulB),
                  *c = operation.Descriptor(kMatmulC);
    if (a == nullptr || b == nullptr || c == nullptr) {
      work_.not_understood = "a product without its tensors";
      return;
    }
    const std::vector<int64_t> left = a->Integers(kTensorDimensions),
                               result = c->Integers(kTensorDimensions);
    if (result.size() < 2 || left.size() < 2) {
      work_.not_understood = "a product of less than two dimensions";
      return;
    }
    // cuDNN's matrices are row-major: theirs are the transposes of cuBLAS's.
    Product p;
    p.m = result[result.size() - 1];
    p.n = result[result.size() - 2];
    p.k = left[left.size() - 1];
    for (size_t i = 0; i + 2 < result.size(); ++i) p.batch *= result[i];
    p.type_a = TypeOf(*b);
    p.type_b = TypeOf(*a);
    p.type_c = p.type_d = TypeOf(*c);
    p.compute = kComputeFp32;
    work_.may_use_tf32 |= p.type_a == 0;
    work_.products.push_back(p);
  }

  void ReadConvolution(const Content& operation, Direction direction, int convolution, int x, int w,
                       int y) {
    const Content *own = operation.Descriptor(convolution), *in = operation.Descriptor(x),
                  *kernel = operation.Descriptor(w), *out = operation.Descriptor(y);
    if (own == nullptr || in == nullptr || kernel == nullptr || out == nullptr) {
      work_.not_understood = "a convolution without its tensors";
      return;
    }
    const std::vector<int64_t> ins = in->Integers(kTensorDimensions),
                               kernels = kernel->Integers(kTensorDimensions),
                               outs = out->Integers(kTensorDimensions),
                               strides = own->Integers(kConvolutionStrides),
                               dilations = own->Integers(kConvolutionDilations),
                               steps = in->Integers(kTensorStrides);
    Convolution c;
    c.direction = direction;
    c.batch = Extent(ins, 0);
    c.in_channels = Extent(ins, 1);
    c.out_channels = Extent(outs, 1);
    c.groups = c.in_channels / std::max<int64_t>(Extent(kernels, 1), 1);
    c.dimensions = static_cast<int>(own->Integer(kConvolutionDimensions, 2));
    if (c.dimensions < 1 || c.dimensions > Convolution::kMaxDimensions) {
      work_.not_understood = "a convolution in " + std::to_string(c.dimensions) + " dimensions";
      return;
    }
    for (size_t i = 0; i < static_cast<size_t>(c.dimensions); ++i) {
      c.in[i] = Extent(ins, 2 + i);
      c.kernel[i] = Extent(kernels, 2 + i);
      c.out[i] = Extent(outs, 2 + i);
      c.stride[i] = Extent(strides, i);
      c.dilation[i] = Extent(dilations, i);
    }
    c.type_in = TypeOf(direction == Direction::kDataGradient ? *out : *in);
    c.type_out = TypeOf(direction == Direction::kForward        ? *out
                        : direction == Direction::kDataGradient ? *in
                                                                : *kernel);
    c.compute = ComputeOf(own->Number(kConvolutionComputeType, 0));
    c.channels_last = steps.size() > 1 && steps[1] == 1 && c.in_channels > 1;
    const std::set<int64_t> own_tensors = {NumberOf(*in), NumberOf(*kernel), NumberOf(*out)};
    for (const auto& [number, tensor] : in_memory_) {
      if (own_tensors.count(number) == 0) c.other_bytes += BytesOf(*tensor);
    }
    work_.may_use_tf32 |= c.type_in == 0 && c.compute == kComputeFp32;
    work_.convolutions.push_back(c);
  }

  std::vector<const Content*> operations_;
  std::map<int64_t, const Content*> in_memory_;  // tensors, by their number
  GraphWork work_;
};

}  // namespace

GraphWork ReadGraph(const Content& graph) { return Reader(graph).Read(); }

void LogWork(const GraphWork& work, bool uses_tensor_cores, const void* stream) {
  const bool is_tf32 = uses_tensor_cores && work.may_use_tf32;
  for (const Attention& attention : work.attention) LogAttention(attention, stream);
  for (Convolution convolution : work.convolutions) {
    if (is_tf32 && convolution.type_in == 0) convolution.compute = kComputeTf32;
    LogConvolution(convolution, stream);
  }
  for (Product product : work.products) {
    if (is_tf32 && product.type_a == 0) product.compute = kComputeTf32;
    LogProduct("cudnn", product, stream);
  }
  if (work.attention.empty() && work.convolutions.empty() && work.products.empty()) {
    LogTraffic("cudnn", work.operation, work.bytes, stream);
  }
}

}  // namespace drydock::hackcuda::dnn
