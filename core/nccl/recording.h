// The protocol between a recorded program and nccl-record. The program has libhacknccl.so as its
// libnccl.so.2. nccl-record starts the program, listens on a Unix socket, and reads the logs. Both
// ends are of the same build, so messages are structs as they are in memory, without versions.
//
// The program finds its launcher in one environment variable, "SOCKET:PROCESS". It writes its logs
// into the folder of the socket, one per operating system process: "PROCESS.PID.log".
//
// A request is one connection. The program sends a RecordRequest and `bytes` bytes of payload. When
// all members have sent their requests, nccl-record answers with a RecordReply and `bytes` bytes of
// payload.
#ifndef DRYDOCK_CORE_NCCL_RECORDING_H_
#define DRYDOCK_CORE_NCCL_RECORDING_H_

#include <cstdint>

namespace drydock {

inline constexpr const char* kRecordVariable = "DRYDOCK_RECORD";

enum class RecordAsk : uint32_t {
  kHost = 1,      // the process gets its RecordHost
  kExchange = 2,  // all members get the payloads of all, in member order
};

struct RecordRequest {
  RecordAsk ask = RecordAsk::kHost;
  uint32_t process = 0;  // the number in the variable
  // All members of an exchange give the same key and round.
  uint64_t key = 0, round = 0;
  int32_t member = 0, members = 0;
  uint32_t bytes = 0;     // of payload
  char purpose[44] = {};  // for error messages: "ncclCommInitRank"
};

struct RecordReply {
  int32_t failed = 0;  // 1: the payload is the reason, as text
  uint32_t bytes = 0;
  uint64_t serial = 0;  // number of the exchange
};

// The host of a process. The process sees all GPUs of the host.
struct RecordHost {
  static constexpr int kMaxGpus = 128;
  int32_t host = 0;
  int32_t gpus = 0;
  int32_t compute_capability = 0;  // 90 = 9.0
  int32_t sm_count = 0;
  int64_t memory_bytes = 0;  // of a GPU
  char gpu_name[64] = {};
  char bus_ids[kMaxGpus][16] = {};
};

// ---- The log: a sequence of RecordEntry, in the order of issue -------------------------------

enum class RecordKind : uint8_t {
  kCommunicator,  // the rank has joined it: communicator, rank, count = ranks, event = its key
  kCall,          // function, type, op, peer, count, group, stream
  kEventRecord,   // event, stream
  kStreamWait,    // stream waits for event
  kStreamSync,    // the program has waited for stream
  kEventSync,     // the program has waited for event
  kDeviceSync,    // the program has waited for all streams of the device
  kKernels,       // count launches of the program's own kernels
  kCopies,        // count copies or fills by the program
  kOp,    // op number `count` of a schedule begins on stream; calls up to the next kOp belong to it
  kWork,  // block number `count` of a workload on stream; never in a log
};

enum class RecordFunction : uint8_t {
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kBroadcast,
  kReduce,
  kAllToAll,
  kGather,
  kScatter,
  kSend,
  kRecv,
};

// How both buffers of a call are registered: not, by ncclCommRegister, as symmetric windows.
enum class RecordBuffers : uint8_t { kPlain, kRegistered, kSymmetric };

// The number of every operation that a program made with ncclRedOpCreatePreMulSum.
inline constexpr uint8_t kRecordPreMulSum = 5;
inline constexpr uint8_t kRecordTypes = 12;  // of ncclDataType_t

struct RecordEntry {
  RecordKind kind = RecordKind::kCall;
  RecordFunction function = RecordFunction::kAllReduce;
  uint8_t type = 0;           // ncclDataType_t's number
  uint8_t op = 0;             // ncclRedOp_t's number, or kRecordPreMulSum
  int16_t device = 0;         // of the host
  uint8_t stream_blocks = 0;  // stream and the default stream wait for each other
  RecordBuffers buffers = RecordBuffers::kPlain;
  int32_t rank = 0, peer = 0;  // in the communicator; peer: the root, or the other end
  uint64_t communicator = 0;   // serial of the exchange that made it
  uint64_t count = 0;          // elements, as the NCCL function counts
  uint64_t stream = 0;         // 0: the default stream; unique in the process
  uint64_t event = 0;          // unique in the process
  uint64_t group = 0;          // calls with the same number were issued as one group
};
static_assert(sizeof(RecordEntry) == 56);

// Stream handles of the CUDA runtime stand-in: 0 and 1 are the default stream, 2 is the default
// stream of a thread. Other handles are even if the stream and the default stream wait for each
// other.
inline void SetStream(uint64_t handle, RecordEntry* entry) {
  entry->stream = handle <= 1 ? 0 : handle;
  entry->stream_blocks = handle % 2 == 0 ? 1 : 0;
}

// ---- Inside the recorded process: the CUDA runtime stand-in calls libnccl.so.2 ---------------

struct RecordingApi {
  const char* (*reason)();  // why there is no virtual host; "" if there is one
  const RecordHost* (*host)();
  void (*set_device)(int);  // of the calling thread; REQUIRES: it exists
  int (*device)();
  void (*log)(const RecordEntry*);
  void (*count_kernel)();  // on the current device
  void (*count_copy)();
};

}  // namespace drydock

extern "C" const drydock::RecordingApi* hacknccl_get_recording();

#endif  // DRYDOCK_CORE_NCCL_RECORDING_H_
