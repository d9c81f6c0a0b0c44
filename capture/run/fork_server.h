// A process that runs a program up to where it asks which rank it is, and of which each rank is a
// fork: what a program imports takes most of the time of a rank, and is the same in all
// (capture/hackcuda/device/fork_server.h).
#ifndef DRYDOCK_CAPTURE_RUN_FORK_SERVER_H_
#define DRYDOCK_CAPTURE_RUN_FORK_SERVER_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "capture/run/keeper.h"
#include "core/base/process.h"
#include "core/base/result.h"

namespace drydock::capture {

class ForkServer {
 public:
  // Starts the program and waits until it has come so far. `program.environment` has the variables
  // that all ranks share, and `program.output` and `errors` are files. `may_wait` is asked now and
  // then; false ends the program. Errors: it cannot be started. Null: it ends before it asks, or
  // has started threads or processes by then; then no rank can be a fork of it.
  static Result<std::unique_ptr<ForkServer>> Start(KeptProgram program,
                                                   const std::vector<std::string>& names,
                                                   const std::function<bool()>& may_wait);
  ~ForkServer();

  // Starts a rank with values for all of `names`. `output` and `errors` are files, which begin with
  // what the program has written so far. Errors: the server has died.
  Result<Keeper> StartRank(const Variables& variables, const std::string& output,
                           const std::string& errors, int time_limit_s);

 private:
  ForkServer(KeptProgram program, Keeper keeper, int socket)
      : program_(std::move(program)), keeper_(std::move(keeper)), socket_(socket) {}
  bool WaitUntilReady(const std::function<bool()>& may_wait);

  KeptProgram program_;
  Keeper keeper_;
  int socket_;
};

}  // namespace drydock::capture

#endif  // DRYDOCK_CAPTURE_RUN_FORK_SERVER_H_
