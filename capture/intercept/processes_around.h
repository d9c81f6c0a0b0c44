// Where the output of a process goes.
#ifndef DRYDOCK_CAPTURE_INTERCEPT_PROCESSES_AROUND_H_
#define DRYDOCK_CAPTURE_INTERCEPT_PROCESSES_AROUND_H_

namespace drydock::capture {

// Whether a shell around this process reads its output: x=$(python port.py). Looks no further than
// the process `owner`.
bool ShellReadsOutput(int owner);

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_INTERCEPT_PROCESSES_AROUND_H_
