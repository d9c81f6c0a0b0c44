// Where the ranks of a recorded program meet: answers the requests of core/nccl/recording.h on a
// Unix socket. An exchange is answered when its last member has asked; then it is over, and the
// same name may be used again. Not thread-safe.
#ifndef DRYDOCK_SIMCCL_RECORD_RECORD_MEETING_H_
#define DRYDOCK_SIMCCL_RECORD_RECORD_MEETING_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/nccl/recording.h"
#include "simccl/record/record_events.h"

namespace drydock {

class RecordMeeting {
 public:
  // `hosts` says by process which host it is on. `path` is at most 107 bytes long.
  static Result<std::unique_ptr<RecordMeeting>> Open(const std::string& path,
                                                     std::vector<RecordHost> hosts,
                                                     RecordEvents* events);
  ~RecordMeeting();
  RecordMeeting(const RecordMeeting&) = delete;
  RecordMeeting& operator=(const RecordMeeting&) = delete;

  // How many exchanges have come to their end.
  uint64_t exchanges() const { return exchanges_; }
  // Whether some thread of the process waits in an exchange.
  bool Waits(uint32_t process) const { return waiting_[process] > 0; }
  // Of every exchange that lacks members, who is missing, a line each.
  std::vector<std::string> Missing() const;

 private:
  struct Connection {
    std::vector<char> received;
  };
  struct Exchange {
    std::string purpose;
    uint32_t bytes = 0;
    std::vector<int> files;  // by member; -1: has not asked
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

#endif  // DRYDOCK_SIMCCL_RECORD_RECORD_MEETING_H_
