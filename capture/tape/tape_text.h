// A tape as text, for tests and for people: one entry a line, in the order of issue.
#ifndef DRYDOCK_CAPTURE_TAPE_TAPE_TEXT_H_
#define DRYDOCK_CAPTURE_TAPE_TAPE_TEXT_H_

#include <string>

#include "capture/tape/rank_tape.h"

namespace drydock::capture {

struct TapeTextOptions {
  // Adds what the host's work took on this machine, and the peaks of memory: a thread of PyTorch's
  // frees what messages used, sooner or later. Without both, two captures of a program have the
  // same text.
  bool with_times = false;
};

// "forward layer 3 micro-batch 0"
std::string PlaceText(const TapePlace& place);

std::string TapeText(const RankTape& tape, const TapeTextOptions& options);

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_TAPE_TAPE_TEXT_H_
