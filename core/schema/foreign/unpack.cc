#include "core/schema/foreign/unpack.h"

#include <zlib.h>

#include <algorithm>
#include <limits>

#include "core/base/files.h"

namespace drydock {
namespace {

constexpr size_t kMaxBytes = size_t{4} << 30;
constexpr size_t kPiece = 1 << 20;
constexpr int kGzipOnly = 15 + 16;  // the largest window, and gzip's header

class Inflater {
 public:
  Inflater() { ready_ = inflateInit2(&stream_, kGzipOnly) == Z_OK; }
  ~Inflater() {
    if (ready_) inflateEnd(&stream_);
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  Result<std::string> Unpack(const std::string& packed, const std::string& path) {
    const auto fail = [&path](const char* what) { return Error(what, {path, 0, 0}); };
    if (!ready_) return fail("cannot unpack: there is not enough memory");
    std::string out;
    size_t at = 0;
    while (true) {
      const size_t piece = std::min(packed.size() - at, kPiece);
      // zlib does not write through next_in.
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data() + at));
      stream_.avail_in = static_cast<uInt>(piece);
      const size_t filled = out.size();
      out.resize(filled + kPiece);
      stream_.next_out = reinterpret_cast<Bytef*>(out.data() + filled);
      stream_.avail_out = static_cast<uInt>(kPiece);
      const int status = inflate(&stream_, Z_NO_FLUSH);
      out.resize(out.size() - stream_.avail_out);
      at += piece - stream_.avail_in;
      if (out.size() > kMaxBytes) return fail("it is larger than 4 GiB when unpacked");
      if (status == Z_STREAM_END) {
        if (at == packed.size()) return out;
        if (inflateReset(&stream_) != Z_OK) return fail("cannot unpack: it is damaged");
      } else if (status != Z_OK && status != Z_BUF_ERROR) {
        return fail("cannot unpack: it is damaged");
      } else if (at == packed.size() && out.size() - filled < kPiece) {
        return fail("cannot unpack: its end is missing");
      }
    }
  }

 private:
  z_stream stream_ = {};
  bool ready_ = false;
};

}  // namespace

Result<std::string> ReadUnpacked(const std::string& path) {
  ASSIGN_OR_RETURN(std::string content, ReadFile(path));
  if (!content.starts_with("\x1f\x8b")) return content;
  return Inflater().Unpack(content, path);
}

}  // namespace drydock
