// The processes that compute one run together: usually one, or several that mpirun has started, on
// one machine or on many. All run the same program with the same arguments. The first process reads
// and writes files for all, and only the first prints messages.
//
// REQUIRES: all processes call these functions in the same order, on the thread of main.
#ifndef DRYDOCK_CORE_BASE_PROCESSES_H_
#define DRYDOCK_CORE_BASE_PROCESSES_H_

#include <string>
#include <vector>

#include "core/base/result.h"

namespace drydock {

class Processes {
 public:
  virtual ~Processes() = default;

  virtual int index() const = 0;
  virtual int count() const = 0;
  // Returns how many of the processes run on this machine.
  virtual int count_here() const = 0;
  bool first() const { return index() == 0; }

  // Returns the text `own` of every process, by index. For short texts.
  virtual std::vector<std::string> GatherAll(const std::string& own) = 0;
  // Does the same for texts of any size, on the first process. The others get an empty list.
  virtual std::vector<std::string> GatherAtFirst(std::string own) = 0;
  // Sends out[p] to each other process p and sets in[p] to the text that p sends to this process.
  // REQUIRES: both have an entry for each process; the entry of this process is not used.
  virtual void Exchange(const std::vector<std::string>& out, std::vector<std::string>* in) = 0;

  // Returns the same status on all processes: OK if `own` is OK on all of them, else the error of
  // the process with the lowest index.
  Status Agree(const Status& own);
};

// Returns the Processes of a run with one process.
Processes& OneProcess();

}  // namespace drydock

#endif  // DRYDOCK_CORE_BASE_PROCESSES_H_
