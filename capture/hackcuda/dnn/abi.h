// Numbers of cuDNN's public interface, version 9, as far as libhackcuda looks at them.
#ifndef DRYDOCK_CAPTURE_HACKCUDA_DNN_ABI_H_
#define DRYDOCK_CAPTURE_HACKCUDA_DNN_ABI_H_

#include <cstddef>
#include <cstdint>

namespace drydock::hackcuda::dnn {

// cudnnStatus_t.
enum Status : int { kSuccess = 0, kBadParameter = 2000, kNotSupported = 3000 };

// cudnnBackendDescriptorType_t.
enum Kind : int {
  kPointwise = 0,
  kConvolutionKind = 1,
  kEngine = 2,
  kEngineConfig = 3,
  kHeuristics = 4,
  kPlan = 5,
  kConvolutionForward = 10,
  kConvolutionBackwardFilter = 11,
  kConvolutionBackwardData = 12,
  kPointwiseOperation = 13,
  kStatistics = 14,
  kGraph = 15,
  kVariantPack = 16,
  kTensor = 17,
  kMatmulOperation = 19,
  kBatchNormFinalize = 20,
  kReductionOperation = 22,
  kBatchNormWeights = 23,
  kResampleForward = 25,
  kResampleBackward = 26,
  kConcatenation = 27,
  kNormForward = 29,
  kNormBackward = 30,
  kReshape = 31,
  kRandom = 33,
  kPagedLoad = 35,
  kBlockQuantize = 36,
  kBlockDequantize = 37,
  kExpandBand = 39,
  kContractBand = 40,
  kAttentionForward = 41,
  kAttentionBackward = 43,
  kBandMask = 44,
  kSoftmax = 45,
  kKinds = 49,
};

// cudnnBackendAttributeType_t.
enum Type : int {
  kHandleType = 0,
  kDataType = 1,
  kBoolean = 2,
  kInt64 = 3,
  kDouble = 5,
  kPointer = 6,
  kDescriptor = 15,
  kChar = 24,
  kFraction = 26,
  kTypes = 32,
};

// cudnnBackendAttributeName_t.
enum Attribute : int {
  kPointwiseMode = 0,
  kConvolutionComputeType = 100,
  kConvolutionDilations = 102,
  kConvolutionStrides = 103,
  kConvolutionDimensions = 106,
  kHeuristicsGraph = 201,
  kHeuristicsResults = 202,
  kConfigEngine = 300,
  kConfigIntermediates = 301,
  kConfigKnobs = 302,
  kConfigWorkspace = 303,
  kConfigSharedMemory = 304,
  kPlanConfig = 401,
  kPlanWorkspace = 402,
  kPlanComputedIntermediates = 403,
  kPlanRunOnlyIntermediates = 404,
  kForwardConvolution = 702,
  kForwardW = 703,
  kForwardX = 704,
  kForwardY = 705,
  kDataConvolution = 708,
  kDataW = 709,
  kDataDx = 710,
  kDataDy = 711,
  kFilterConvolution = 714,
  kFilterDw = 715,
  kFilterX = 716,
  kFilterDy = 717,
  kPointwiseDescriptor = 750,
  kPointwiseX = 751,
  kPointwiseB = 752,
  kGraphOperations = 801,
  kGraphEngines = 802,
  kTensorType = 901,
  kTensorDimensions = 902,
  kTensorStrides = 903,
  kTensorNumber = 906,
  kTensorIsVirtual = 907,
  kTensorIsByValue = 908,
  kEngineGraph = 1300,
  kEngineNumber = 1301,
  kEngineKnobs = 1302,
  kEngineNumericalNotes = 1303,
  kEngineLayouts = 1304,
  kEngineBehaviorNotes = 1305,
  kMatmulA = 1520,
  kMatmulB = 1521,
  kMatmulC = 1522,
  kAttentionQ = 2800,
  kAttentionK = 2801,
  kAttentionV = 2802,
  kAttentionDropout = 2818,
  kGradientQ = 2851,
  kGradientK = 2852,
  kGradientV = 2853,
};

// cudnnPointwiseMode_t.
inline constexpr int kExp = 13, kIsGreaterOrEqual = 303, kIndex = 501;
// cudnnBackendNumericalNote_t.
inline constexpr int kUsesTensorCores = 0;
// cudnnTensorFormat_t.
inline constexpr int kChannelsLast = 1;

// cudnnMathType_t: CUDNN_FMA_MATH keeps fp32 from TF32.
inline constexpr int kWithoutTensorCores = 3;

// Returns the number of cudaDataType of a cudnnDataType_t, or -1.
constexpr int DataTypeOf(int type) {
  constexpr int kTypesOf[] = {0, 1, 2, 3, 10, -1, 8, -1, -1, 14, 24, 8, 28, 29, 0, 30, 33};
  return type >= 0 && static_cast<size_t>(type) < sizeof kTypesOf / sizeof *kTypesOf
             ? kTypesOf[type]
             : -1;
}
// Bits of an element of a cudnnDataType_t; packed types count a vector.
constexpr int64_t BitsOf(int type) {
  constexpr int kBits[] = {32, 64, 16, 8, 32, 32, 8, 32, 256, 16, 64, 8, 8, 8, 32, 8, 4};
  return type >= 0 && static_cast<size_t>(type) < sizeof kBits / sizeof *kBits ? kBits[type] : 0;
}

}  // namespace drydock::hackcuda::dnn

#endif  // DRYDOCK_CAPTURE_HACKCUDA_DNN_ABI_H_
