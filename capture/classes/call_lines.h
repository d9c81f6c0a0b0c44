// The lines of Python at which ranks call NCCL. Nobody pays for them while all is well: a rank
// whose lines an error wants runs once more.
#ifndef DRYDOCK_CAPTURE_CLASSES_CALL_LINES_H_
#define DRYDOCK_CAPTURE_CLASSES_CALL_LINES_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "capture/classes/class_tape.h"
#include "capture/run/rank_run.h"

namespace drydock::capture {

// Returns the line of each call of a log that has marks of them; "" where there is none.
std::vector<std::string> LinesOfCalls(const ProcessLog& log);

class CallLines {
 public:
  // All must outlive this object.
  CallLines(const CaptureEnvironment& environment, const Topology& topology,
            const RankProgram& program)
      : environment_(environment), topology_(topology), program_(program) {}

  // Returns ", /me/train.py:12", or "" if unknown. `entry`: of the tape.
  std::string Of(const ClassTape& tape, size_t entry);

 private:
  const CaptureEnvironment& environment_;
  const Topology& topology_;
  const RankProgram& program_;
  std::map<int, std::vector<std::string>> lines_;  // by rank that has run again
};

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_CLASSES_CALL_LINES_H_
