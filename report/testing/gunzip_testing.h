// Reads a gzip file. Only tests need it, because the tools only write such files.
#ifndef DRYDOCK_REPORT_TESTING_GUNZIP_TESTING_H_
#define DRYDOCK_REPORT_TESTING_GUNZIP_TESTING_H_

#include <gtest/gtest.h>
#include <zlib.h>

#include <string>

namespace drydock {

// Returns the content; fails the test if it exceeds `most` bytes or the file is damaged.
inline std::string Gunzip(const std::string& file, size_t most) {
  std::string out(most + 1, '\0');
  z_stream stream = {};
  EXPECT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(file.data()));
  stream.avail_in = static_cast<uInt>(file.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  inflateEnd(&stream);
  return out;
}

}  // namespace drydock

#endif  // DRYDOCK_REPORT_TESTING_GUNZIP_TESTING_H_
