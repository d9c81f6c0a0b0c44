// Turns the log of a captured rank into the tape of one of its iterations.
#ifndef DRYDOCK_CAPTURE_TAPE_MAKE_TAPE_H_
#define DRYDOCK_CAPTURE_TAPE_MAKE_TAPE_H_

#include <span>

#include "capture/log/log_file.h"
#include "capture/tape/rank_tape.h"
#include "core/base/result.h"

namespace drydock::capture {

struct TapeOptions {
  int iteration = 3;  // from 1: caches, compiled code and allocators have settled by then
  int world = 1;      // ranks of the program
  // The log of a second run of the same rank, without operators (DRYDOCK_CAPTURE_OBSERVER empty):
  // telling their inputs takes PyTorch time that the host's times cannot leave out. Null: the
  // host's times are those of `log`. They are so, too, if the second run asks something else of its
  // GPU.
  const ProcessLog* timed = nullptr;
};

// Errors: the program makes fewer iterations; it asks for something whose effect is not known.
// REQUIRES: options.iteration >= 1.
Result<RankTape> MakeTape(const ProcessLog& log, const TapeOptions& options);

// Gives the ops of a program that MakeRecordProgram made of `tape.entries` their places, and makes
// loads and stores of the tape's transfers: their `work` is an index into RankTape::transfers.
void SetPlaces(const RankTape& tape, std::span<const size_t> entry_of_op, Program* program);

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_TAPE_MAKE_TAPE_H_
