// The log of a captured process: what it asked of the GPU, in the order of the calls. libhackcuda
// writes it inside the process, and `capture` reads it. Both are of the same build, so entries are
// structs as they are in memory.
//
// A file is a LogHeader and `LogHeader::bytes` bytes of entries. An entry is an EntryHeader and
// `words` words: integers, whose names FieldsOf(kind) lists, or a text of kName. The process maps
// the file, so that a process that dies leaves all of its entries.
#ifndef DRYDOCK_CAPTURE_LOG_ENTRY_H_
#define DRYDOCK_CAPTURE_LOG_ENTRY_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace drydock::capture {

inline constexpr char kLogMagic[8] = {'d', 'd', 'c', 'a', 'p', '0', '0', '1'};

struct LogHeader {
  char magic[8] = {};
  uint64_t bytes = 0;  // of complete entries
  int32_t process = 0;
  int32_t rank = -1;  // -1: no rank of the program, such as a compiler that it starts
};

// The exit status of a process whose log has no room on the disk.
inline constexpr int kNoSpace = 28;

enum class EntryKind : uint16_t {
  kName,  // a text: word 0 is its number, word 1 its length, then its bytes
  // Kernels and products.
  kLaunch,
  kProduct,
  kAttention,
  kConvolution,
  kTraffic,  // of a library's kernels that only move bytes
  // Memory.
  kAllocate,
  kFree,
  kAllocateHost,
  kCopy,
  kFill,
  // NCCL (core/nccl/recording.h).
  kCommunicator,
  kCall,
  // Order.
  kStream,
  kRecordEvent,
  kWaitEvent,
  kSyncEvent,
  kSyncStream,
  kSyncDevice,
  kAskEvent,
  kAskStream,
  kHostFunction,
  // Graphs.
  kBeginCapture,
  kEndCapture,
  kInstantiate,
  kLaunchGraph,
  // Where the program is.
  kBeginOp,
  kEndOp,
  kMark,
  kRead,  // the host reads values from a GPU that nobody computed
  // What libhackcuda does not do.
  kRefuse,
};
inline constexpr int kEntryKinds = static_cast<int>(EntryKind::kRefuse) + 1;

struct EntryHeader {
  EntryKind kind = EntryKind::kName;
  uint16_t words = 0;   // of 8 bytes, behind this header
  uint32_t thread = 0;  // the kernel's number
  int64_t wall_ns = 0;  // CLOCK_MONOTONIC when the call began
  int64_t cpu_ns = 0;   // CPU time of the thread, without what the capture itself takes;
                        // kBeginOp, kEndOp: that of the thread's last entry of another kind
};
static_assert(sizeof(EntryHeader) == 24);

inline constexpr int kMaxWords = 32;      // of an entry that is no text
inline constexpr int kMaxText = 1 << 18;  // longer names are cut

// Where copies begin or end.
enum class Side : int64_t { kHost, kPinned, kDevice };

struct EntryFields {
  std::string_view name;    // "launch"
  std::string_view fields;  // "kernel grid_x grid_y ...": of each word; names end with '
};

// The field of a name's number ends with an apostrophe: "kernel'".
inline constexpr EntryFields kEntryFields[kEntryKinds] = {
    {"name", ""},
    {"launch",
     "kernel' grid_x grid_y grid_z block_x block_y block_z shared_bytes cluster_x "
     "cluster_y cluster_z stream"},
    {"product",
     "library' m n k batch transpose_a transpose_b type_a type_b type_c type_d compute "
     "epilogue scales stream"},
    {"attention",
     "library' backward batch heads heads_kv queries keys depth depth_v type causal dropout "
     "stream"},
    {"convolution",
     "library' direction batch groups in_channels out_channels dimensions in_1 in_2 in_3 kernel_1 "
     "kernel_2 kernel_3 stride_1 stride_2 stride_3 dilation_1 dilation_2 dilation_3 out_1 out_2 "
     "out_3 type_in type_out compute channels_last other_bytes stream"},
    {"traffic", "library' operation' bytes stream"},
    {"allocate", "address bytes"},
    {"free", "address"},
    {"allocate-host", "address bytes"},
    {"copy", "from to bytes stream waits"},
    {"fill", "bytes stream"},
    {"communicator", "communicator key rank ranks device"},
    {"call", "function type op buffers rank peer communicator count group stream"},
    {"stream", "stream device priority blocks"},
    {"record-event", "event stream"},
    {"wait-event", "stream event"},
    {"sync-event", "event"},
    {"sync-stream", "stream"},
    {"sync-device", ""},
    {"ask-event", "event"},
    {"ask-stream", "stream"},
    {"host-function", "stream"},
    {"begin-capture", "stream"},
    {"end-capture", "stream graph"},
    {"instantiate", "graph executable"},
    {"launch-graph", "executable stream"},
    {"begin-op", "op'"},
    {"end-op", "outputs'"},
    {"mark", "what'"},
    // `line`: the innermost of the user's Python; `origin`: what made the values unknown; both may
    // be empty. `value`: of at most 8 bytes, or 0.
    {"read", "line' origin' bytes value"},
    {"refuse", "library' function'"},
};
inline constexpr const EntryFields& FieldsOf(EntryKind kind) {
  return kEntryFields[static_cast<size_t>(kind)];
}

// The GPU that the process believes in, and its rank. The launcher writes it to the file "process"
// of the folder that kCaptureVariable names; logs go there, too: "PID.log".
inline constexpr const char* kCaptureVariable = "DRYDOCK_CAPTURE";

// A folder, if processes of one capture share values: a rank keeps small values there of which it
// is the root, and ranks that run later read them. Without it, or where the root has not run, a
// buffer keeps what it holds, and the log has a mark "unknown broadcast". It also has what the host
// of each rank reads, for the run of the rank that measures the host.
inline constexpr const char* kValuesVariable = "DRYDOCK_CAPTURE_VALUES";

// A number, if the program ends when it begins the forward pass behind so many iterations.
inline constexpr const char* kIterationsVariable = "DRYDOCK_CAPTURE_ITERATIONS";

// The library that observes operators. Empty: nothing but what the GPU is asked is recorded.
inline constexpr const char* kObserverVariable = "DRYDOCK_CAPTURE_OBSERVER";

// Set: each collective and message follows a mark "line FILE:LINE", of the innermost line of the
// user's Python.
inline constexpr const char* kLinesVariable = "DRYDOCK_CAPTURE_LINES";

struct CapturedProcess {
  static constexpr int kMaxGpus = 64;
  int32_t rank = -1;
  int32_t gpus = 0;            // of its host
  int32_t ranks_per_host = 0;  // rank r is on host r / ranks_per_host; 0: as many as GPUs
  int32_t compute_capability = 0;
  int32_t sms = 0;
  int32_t clock_khz = 0;
  int32_t nvlink = 0;  // 1: GPUs of the host have NVLink
  int64_t memory_bytes = 0;
  int64_t context_bytes = 0;  // what the driver takes of it
  int64_t l2_bytes = 0;
  char name[64] = {};
  char driver[16] = {};  // its version
};

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_LOG_ENTRY_H_
