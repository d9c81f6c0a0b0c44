#include "capture/hackcuda/device/broadcasts.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "capture/hackcuda/device/absent_ranks.h"
#include "capture/hackcuda/device/log.h"
#include "capture/hackcuda/device/memory.h"

namespace drydock::hackcuda {
namespace {

struct Counts {
  std::mutex mutex;
  std::map<std::pair<uint64_t, int>, int> of_root;  // by communicator and root
};
int Next(uint64_t communicator, int root) {
  static Counts& counts = *new Counts;
  const std::lock_guard<std::mutex> lock(counts.mutex);
  return counts.of_root[{communicator, root}]++;
}

// Empty if it is not known who belongs to the communicator.
std::string PathOf(const RecordEntry& call, int count) {
  const char* folder = getenv(capture::kValuesVariable);
  const std::string name = CommunicatorName(call.communicator);
  if (folder == nullptr || folder[0] == '\0' || name.empty()) return "";
  return std::string(folder) + "/" + name + "-" + std::to_string(call.peer) + "-" +
         std::to_string(count);
}

bool Keep(const std::string& path, const void* buffer, size_t bytes) {
  const std::string part = path + "." + std::to_string(getpid());
  FILE* file = fopen(part.c_str(), "wb");
  if (file == nullptr) return false;
  const bool is_whole = fwrite(buffer, 1, bytes, file) == bytes;
  return fclose(file) == 0 && is_whole && rename(part.c_str(), path.c_str()) == 0;
}

bool ReadKept(const std::string& path, void* buffer, size_t bytes) {
  FILE* file = fopen(path.c_str(), "rb");
  if (file == nullptr) return false;
  // One byte more tells that the root sent something longer.
  std::vector<char> kept(bytes + 1);
  const size_t found = fread(kept.data(), 1, kept.size(), file);
  fclose(file);
  if (found != bytes) return false;
  memcpy(buffer, kept.data(), bytes);
  return true;
}

}  // namespace

bool ShareBroadcast(const RecordEntry& call, const void* buffer, size_t bytes) {
  const int count = Next(call.communicator, call.peer);
  if (buffer == nullptr || bytes == 0) return true;
  const std::string path = PathOf(call, count);
  if (call.rank == call.peer) {
    if (!path.empty() && !Keep(path, buffer, bytes)) {
      Log(EntryKind::kMark, {NameNumber("broadcast not kept")});
    }
    return true;
  }
  if (!path.empty() && ReadKept(path, const_cast<void*>(buffer), bytes)) return true;
  Log(EntryKind::kMark, {NameNumber("unknown broadcast of " + std::to_string(bytes) +
                                    " bytes from member " + std::to_string(call.peer))});
  return false;
}

}  // namespace drydock::hackcuda
