// The processes that compute one run together: one alone, which is the usual case, or several that
// mpirun has started, on one machine or on many. All run the same program with the same arguments;
// the first reads and writes for all, and it alone speaks.
//
// What can be called here is called by all, in the same order, on the thread that main runs on.
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
  // How many of them share this machine.
  virtual int count_here() const = 0;
  bool first() const { return index() == 0; }

  // What each of them gave, by process; small.
  virtual std::vector<std::string> GatherAll(const std::string& own) = 0;
  // The same for the first process, of any size; the others get nothing.
  virtual std::vector<std::string> GatherAtFirst(std::string own) = 0;
  // Sends out[p] to each other process p, and sets in[p] to what that one sent here. Both have an
  // entry for each process; the own ones are left alone.
  virtual void Exchange(const std::vector<std::string>& out, std::vector<std::string>* in) = 0;

  // The same for all: `own` of the lowest process where it is an error, OK if none has one.
  Status Agree(const Status& own);
};

// This process, without others.
Processes& OneProcess();

}  // namespace drydock

#endif  // DRYDOCK_CORE_BASE_PROCESSES_H_
