// Serves the ranks of a recorded program: answers the requests of core/nccl/recording.h on a Unix
// socket. An exchange ends when its last member has asked: all members get their answer, and the
// name of the exchange may be used again. Not thread-safe.
#ifndef DRYDOCK_SIMCCL_RECORD_RUN_MEETING_H_
#define DRYDOCK_SIMCCL_RECORD_RUN_MEETING_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/nccl/recording.h"
#include "simccl/record/run/events.h"

namespace drydock {

class RecordMeeting {
 public:
  // `hosts` has the host of each process. REQUIRES: `path` is at most 107 bytes long.
  static Result<std::unique_ptr<RecordMeeting>> Open(const std::string& path,
                                                     std::vector<RecordHost> hosts,
                                                     RecordEvents* events);
  ~RecordMeeting();
  RecordMeeting(const RecordMeeting&) = delete;
  RecordMeeting& operator=(const RecordMeeting&) = delete;

  // Returns the number of finished exchanges.
  uint64_t exchanges() const { return exchanges_; }
  // Returns true if a thread of the process waits in an exchange.
  bool Waits(uint32_t process) const { return waiting_[process] > 0; }
  // Returns one line for each unfinished exchange that lists its missing members.
  std::vector<std::string> Missing() const;

 private:
  struct Connection {
    std::vector<char> received;
  };
  struct Exchange {
    std::string purpose;
    uint32_t bytes = 0;
    std::vector<int> files;  // by member; -1: the member has not asked
    std::vector<uint32_t> processes;
    std::vector<char> payloads;  // in member order
    size_t present = 0;
  };
  using Name = std::pair<uint64_t, uint64_t>;

  RecordMeeting(int socket, std::vector<RecordHost> hosts, RecordEvents* events);
  void Accept();
  void Receive(int file);
  void Serve(int file, const RecordRequest& request, const char* payload);
  void Join(int file, const RecordRequest& request, const char* payload);
  void Finish(const Name& name);
  void Refuse(int file, const std::string& reason);
  void Answer(int file, const RecordReply& reply, const void* payload);

  int socket_;
  std::vector<RecordHost> hosts_;  // by process
  RecordEvents* events_;
  std::map<int, Connection> connections_;  // by file
  std::map<Name, Exchange> pending_;
  std::vector<int> waiting_;  // by process
  uint64_t exchanges_ = 0;
};

}  // namespace drydock

#endif  // DRYDOCK_SIMCCL_RECORD_RUN_MEETING_H_
