// Records the frames on chosen cables, for a capture file.
#ifndef DRYDOCK_NS3_BACKEND_LINK_CAPTURE_H_
#define DRYDOCK_NS3_BACKEND_LINK_CAPTURE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/processes.h"
#include "core/base/result.h"
#include "core/network/network.h"
#include "ns3-backend/helper/fabric-helper.h"

namespace drydock {

// Keeps 40 bytes per frame until the end of the run. Must not be moved or copied.
class LinkCapture {
 public:
  // Returns an error if no cable has these ends. `fabric` outlives this.
  static Result<std::unique_ptr<LinkCapture>> Create(const ns3::rdma::FabricHelper& fabric,
                                                     const CaptureOptions& options);
  LinkCapture(const LinkCapture&) = delete;
  LinkCapture& operator=(const LinkCapture&) = delete;

  // Call after the run, in all processes. The first process writes the file, frames in the order in
  // which they began.
  Status Write(Processes* processes);

 private:
  struct Seen {
    ns3::rdma::Frame frame;
    int64_t time;  // ps
  };
  struct Direction {
    uint32_t link;
    std::vector<Seen> frames;  // only the thread of its sender touches them
  };

  LinkCapture(const ns3::rdma::FabricHelper& fabric, std::string file)
      : fabric_(fabric), file_(std::move(file)) {}
  // Sends the frames of each link from the process of its sender to the first process.
  void Gather(Processes* processes);
  Status WriteHere() const;
  static void See(Direction* direction, const ns3::rdma::Frame& frame, int64_t now);

  const ns3::rdma::FabricHelper& fabric_;
  std::string file_;
  std::vector<std::unique_ptr<Direction>> directions_;
};

}  // namespace drydock

#endif  // DRYDOCK_NS3_BACKEND_LINK_CAPTURE_H_
