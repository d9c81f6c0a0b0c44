// What a recorded program and nccl-record say to each other. The program has libhacknccl.so in the
// place of libnccl.so.2; nccl-record started it, listens on a Unix socket, and reads the log it
// leaves behind. Both ends are of the same build: structs as they are in memory, no versions.
//
// The program finds its launcher in one environment variable, "SOCKET:PROCESS". The folder of the
// socket receives the logs, one per operating system process: "PROCESS.PID.log".
//
// A request is one connection: a RecordRequest and `bytes` of payload go in; a RecordReply and
// `bytes` of payload come back, once everybody who has to has asked.
#ifndef DRYDOCK_CORE_NCCL_RECORDING_H_
#define DRYDOCK_CORE_NCCL_RECORDING_H_

#include <cstdint>

namespace drydock {

inline constexpr const char* kRecordVariable = "DRYDOCK_RECORD";

enum class RecordAsk : uint32_t {
  kHost = 1,      // which host am I on? -> RecordHost
  kExchange = 2,  // my payload goes to all `members`, theirs to me, in member order
};

struct RecordRequest {
  RecordAsk ask = RecordAsk::kHost;
  uint32_t process = 0;  // as in the variable
  // An exchange is named by two numbers all its members agree on, and by who takes part.
  uint64_t key = 0, round = 0;
  int32_t member = 0, members = 0;
  uint32_t bytes = 0;     // of payload
  char purpose[44] = {};  // "ncclCommInitRank": for messages
};

struct RecordReply {
  int32_t failed = 0;  // then the payload is the reason, as text
  uint32_t bytes = 0;
  uint64_t serial = 0;  // of an exchange: the same for all members, another for each exchange
};

// The host a process runs on; all its GPUs are visible to it.
struct RecordHost {
  static constexpr int kMostGpus = 128;
  int32_t host = 0;
  int32_t gpus = 0;
  int32_t compute_capability = 0;  // 90 = 9.0
  int32_t sm_count = 0;
  int64_t memory_bytes = 0;  // of a GPU
  char gpu_name[64] = {};
  char bus_ids[kMostGpus][16] = {};
};

// ---- The log: RecordEntry after RecordEntry, in the order things were issued ----------------

enum class RecordKind : uint8_t {
  kCommunicator,  // this rank has joined one: communicator, rank, count = ranks
  kCall,          // function, type, op, peer, count, group, stream
  kEventRecord,   // event, stream
  kStreamWait,    // stream waits for event
  kStreamSync,    // the program has waited for stream
  kEventSync,     // the program has waited for event
  kDeviceSync,    // the program has waited for all streams of the device
  kKernels,       // count launches of the program's own kernels
  kCopies,        // count copies or fills by the program
  kOp,            // op number `count` of a schedule begins on stream: calls up to the next are its
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

// What NCCL knew of both buffers of a call: nothing, by ncclCommRegister, as symmetric windows.
enum class RecordBuffers : uint8_t { kPlain, kRegistered, kSymmetric };

// ncclRedOp_t's numbers; every operation a program made with ncclRedOpCreatePreMulSum is this one.
inline constexpr uint8_t kRecordPreMulSum = 5;
inline constexpr uint8_t kRecordTypes = 12;  // of ncclDataType_t

struct RecordEntry {
  RecordKind kind = RecordKind::kCall;
  RecordFunction function = RecordFunction::kAllReduce;
  uint8_t type = 0;           // ncclDataType_t's number
  uint8_t op = 0;             // ncclRedOp_t's number, or kRecordPreMulSum
  int16_t device = 0;         // of the host
  uint8_t stream_blocks = 0;  // stream waits for the default stream and it for stream
  RecordBuffers buffers = RecordBuffers::kPlain;
  int32_t rank = 0, peer = 0;  // in the communicator; peer is the root, or the other end
  uint64_t communicator = 0;   // serial of the exchange in which it was made
  uint64_t count = 0;          // elements as the NCCL function counts
  uint64_t stream = 0;         // 0: the default stream; unique in the process
  uint64_t event = 0;          // unique in the process
  uint64_t group = 0;          // calls with the same number were issued as one group
};
static_assert(sizeof(RecordEntry) == 56);

// Stream handles of the CUDA runtime stand-in: 0 and 1 are the default stream, 2 that of a thread,
// further ones are even for streams that wait for the default stream and it for them.
inline void SetStream(uint64_t handle, RecordEntry* entry) {
  entry->stream = handle <= 1 ? 0 : handle;
  entry->stream_blocks = handle % 2 == 0 ? 1 : 0;
}

// ---- Inside the recorded process: what the CUDA runtime stand-in gets from libnccl.so.2 -------

struct RecordingApi {
  const char* (*reason)();  // why there is no virtual host here; "" if there is one
  const RecordHost* (*host)();
  void (*set_device)(int);  // of the calling thread; must be there
  int (*device)();
  void (*log)(const RecordEntry*);
  void (*count_kernel)();  // on the current device
  void (*count_copy)();
};

}  // namespace drydock

extern "C" const drydock::RecordingApi* hacknccl_get_recording();

#endif  // DRYDOCK_CORE_NCCL_RECORDING_H_
