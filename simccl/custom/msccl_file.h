// Algorithms of MSCCL: XML files that say what each thread block of each GPU does, as msccl-tools
// and its like write them.
//
//   <algo name="ring" proto="Simple" nchannels="1" nchunksperloop="4" ngpus="4" coll="allreduce"
//         inplace="1">
//     <gpu id="0" i_chunks="4" o_chunks="0" s_chunks="0">
//       <tb id="0" send="1" recv="3" chan="0">
//         <step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="1" depid="-1"
//               deps="-1" hasdep="0"/>
//
// A call's buffer is cut into nchunksperloop chunks. Steps name chunks of the input (i), the output
// (o) and of memory of the algorithm's own (s). Thread blocks run side by side; a step with a depid
// waits for the step number `deps` of that thread block of its GPU.
#ifndef DRYDOCK_SIMCCL_CUSTOM_MSCCL_FILE_H_
#define DRYDOCK_SIMCCL_CUSTOM_MSCCL_FILE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/model/flow_plan.h"
#include "core/model/workload.h"

namespace drydock {

struct MscclStep {
  enum class Kind : uint8_t {
    kNothing,                // nop: only waits
    kSend,                   // s
    kReceive,                // r
    kReceiveCopySend,        // rcs
    kReceiveReduceSend,      // rrs
    kReceiveReduceCopy,      // rrc
    kReceiveReduceCopySend,  // rrcs
    kCopy,                   // cpy
    kReduce                  // re
  };
  Kind kind = Kind::kNothing;
  // Chunks of the call's buffer; those of the algorithm's own memory come after them. -1: none.
  int64_t source = -1, target = -1;
  int count = 1;        // chunks
  int wait_block = -1;  // index of a thread block of the GPU; -1: waits for none
  int wait_step = -1;
  int line = 0;

  bool sends() const;
  bool receives() const;
};

struct MscclBlock {
  int send = -1, receive = -1;  // members; -1: none
  int channel = 0;
  std::vector<MscclStep> steps;
  int line = 0;
};

struct MscclGpu {
  int64_t scratch = 0;  // chunks of memory of its own
  std::vector<MscclBlock> blocks;
  int line = 0;
};

struct MscclAlgorithm {
  std::string name, file;
  CollectiveType collective = CollectiveType::kAllReduce;
  Protocol protocol = Protocol::kSimple;
  int64_t chunks = 1;                   // of a call's buffer
  bool in_place = false;                // the output is the input, or holds it at first
  int64_t least = 0, most = INT64_MAX;  // bytes of the calls that it is for
  std::vector<MscclGpu> gpus;           // by member

  int members() const { return static_cast<int>(gpus.size()); }
};

// Errors, each with its place: what is not in this form; a step that names a GPU, thread block,
// step or chunk that is not there; two thread blocks that send to one GPU over one channel, or
// receive from one; a receive whose count differs from that of its send.
Result<MscclAlgorithm> ParseMsccl(const std::string& text, const std::string& file_name);

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_CUSTOM_MSCCL_FILE_H_
