// Writes a gzip file piece by piece. The header has no time, name or system, so equal content gives
// equal bytes. Owns its buffers. Not thread-safe.
#ifndef DRYDOCK_REPORT_OUTPUT_GZIP_H_
#define DRYDOCK_REPORT_OUTPUT_GZIP_H_

#include <zlib.h>

#include <string>
#include <string_view>

namespace drydock {

class GzipWriter {
 public:
  GzipWriter();
  ~GzipWriter();
  GzipWriter(const GzipWriter&) = delete;
  GzipWriter& operator=(const GzipWriter&) = delete;

  void Append(std::string_view content);
  // Returns the whole file. REQUIRES: no Append after it.
  std::string Finish();

 private:
  void Deflate(std::string_view content, int flush);

  z_stream stream_ = {};
  gz_header header_ = {};
  std::string out_;
};

}  // namespace drydock

#endif  // DRYDOCK_REPORT_OUTPUT_GZIP_H_
