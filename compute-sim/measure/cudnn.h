// The part of cuDNN 9 that measuring attention needs. The library is opened at run time, so that
// the build needs no header of it and a machine may lack it. The names are those of the interface
// that NVIDIA documents as the backend or graph API; the values are its ABI (cudnn_test.cc compares
// them with NVIDIA's header if there is one). Thread-safe once opened.
#ifndef DRYDOCK_COMPUTE_SIM_MEASURE_CUDNN_H_
#define DRYDOCK_COMPUTE_SIM_MEASURE_CUDNN_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace drydock {

enum class CudnnObject : int {
  kPointwise = 0,
  kEngineConfig = 3,
  kHeuristics = 4,
  kPlan = 5,
  kPointwiseOperation = 13,
  kGraph = 15,
  kVariantPack = 16,
  kTensor = 17,
  kMatmul = 18,
  kMatmulOperation = 19,
  kReduction = 21,
  kReductionOperation = 22,
  kReshapeOperation = 31,
  kDevice = 38,
};

enum class CudnnKey : int {
  kPointwiseMode = 0,
  kPointwisePrecision = 1,
  kPointwiseAxis = 9,
  kHeuristicsMode = 200,
  kHeuristicsGraph = 201,
  kHeuristicsResults = 202,
  kHeuristicsDevice = 204,
  kPlanHandle = 400,
  kPlanConfig = 401,
  kPlanWorkspace = 402,
  kPlanDevice = 407,
  kOpPointwise = 750,
  kOpPointwiseX = 751,
  kOpPointwiseB = 752,
  kOpPointwiseY = 753,
  kOpPointwiseT = 758,
  kGraphHandle = 800,
  kGraphOps = 801,
  kTensorAlignment = 900,
  kTensorType = 901,
  kTensorDims = 902,
  kTensorStrides = 903,
  kTensorId = 906,
  kTensorVirtual = 907,
  kTensorByValue = 908,
  kPackIds = 1000,
  kPackPointers = 1001,
  kPackWorkspace = 1003,
  kMatmulPrecision = 1500,
  kOpMatmulA = 1520,
  kOpMatmulB = 1521,
  kOpMatmulC = 1522,
  kOpMatmul = 1523,
  kReductionMode = 1600,
  kReductionPrecision = 1601,
  kOpReductionX = 1610,
  kOpReductionY = 1611,
  kOpReduction = 1612,
  kOpReshapeX = 2200,
  kOpReshapeY = 2201,
  kDeviceJson = 2702,
};

// The type of an attribute's value.
enum class CudnnValue : int {
  kHandle = 0,
  kDataType = 1,
  kBool = 2,
  kInt64 = 3,
  kPointer = 6,
  kHeuristicsMode = 8,
  kPointwiseMode = 14,
  kObject = 15,
  kReductionMode = 18,
  kChar = 24,
};

enum class CudnnType : int { kFloat = 0, kHalf = 2, kInt32 = 4, kBfloat16 = 9, kBool = 11 };

enum class CudnnPointwise : int {
  kAdd = 0,
  kMultiply = 1,
  kDivide = 6,
  kSubtract = 9,
  kExp = 13,
  kLog = 15,
  kIdentity = 21,
  kGreaterEqual = 303,
  kIndex = 501,   // the index of a row or column
  kSelect = 601,  // one of two operands, by a third
};

enum class CudnnReduction : int { kSum = 0, kMaximum = 3 };

// The heuristic by which cuDNN chooses from the properties of the GPU and the extents.
inline constexpr int kCudnnHeuristicsA = 3;

class Cudnn {
 public:
  // `path`: the path of libcudnn.so.9; "": the loader searches it. Returns null and fills in *error
  // if there is no such library or if it is not version 9.
  static std::shared_ptr<const Cudnn> Open(const std::string& path, std::string* error);

  std::string Version() const;    // "9.19.0"
  std::string LastError() const;  // the last error of this thread

  // All of these return 0 for success.
  int (*create)(void** handle) = nullptr;
  int (*destroy)(void* handle) = nullptr;
  int (*create_object)(CudnnObject kind, void** object) = nullptr;
  int (*destroy_object)(void* object) = nullptr;
  int (*finalize)(void* object) = nullptr;
  int (*set)(void* object, CudnnKey key, CudnnValue type, int64_t count,
             const void* values) = nullptr;
  int (*get)(const void* object, CudnnKey key, CudnnValue type, int64_t room, int64_t* count,
             void* values) = nullptr;
  int (*execute)(void* handle, void* plan, void* variant_pack) = nullptr;

 private:
  Cudnn() = default;
  bool Load(const std::string& path, std::string* error);

  size_t (*version_)() = nullptr;
  void (*last_error_)(char* message, size_t size) = nullptr;
};

}  // namespace drydock

#endif  // DRYDOCK_COMPUTE_SIM_MEASURE_CUDNN_H_
