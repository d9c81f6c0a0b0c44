#include "report/gzip.h"

#include <gtest/gtest.h>

namespace drydock {
namespace {

std::string Unpack(const std::string& file, size_t size) {
  std::string out(size + 1, '\0');
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

TEST(Gzip, GivesBackWhatWasAppended) {
  GzipWriter writer;
  writer.Append("one ");
  writer.Append("");
  writer.Append("two");
  EXPECT_EQ(Unpack(writer.Finish(), 7), "one two");
}

// Hard to compress, and more than the writer's buffer grows at once.
TEST(Gzip, ManyMegabytes) {
  std::string content;
  uint64_t state = 1;
  for (int i = 0; i < 3000000; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    content += static_cast<char>(state >> 56);
  }
  GzipWriter writer;
  for (size_t i = 0; i < content.size(); i += 1000000) {
    writer.Append(std::string_view(content).substr(i, 1000000));
  }
  EXPECT_TRUE(Unpack(writer.Finish(), content.size()) == content);
}

// Bytes 4 to 7 are the time of making, byte 9 the system (RFC 1952, 2.3).
TEST(Gzip, TheHeaderTellsNeitherTimeNorSystem) {
  GzipWriter writer;
  writer.Append("x");
  const std::string file = writer.Finish();
  EXPECT_EQ(file.substr(4, 4), std::string(4, '\0'));
  EXPECT_EQ(file[9], '\xff');
}

}  // namespace
}  // namespace drydock
