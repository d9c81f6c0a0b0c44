#include "report/output/gzip.h"

#include <gtest/gtest.h>

#include "report/testing/gunzip_testing.h"

namespace drydock {
namespace {

TEST(Gzip, GivesBackWhatWasAppended) {
  GzipWriter writer;
  writer.Append("one ");
  writer.Append("");
  writer.Append("two");
  EXPECT_EQ(Gunzip(writer.Finish(), 7), "one two");
}

// The content is incompressible and larger than one growth of the writer's buffer.
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
  EXPECT_TRUE(Gunzip(writer.Finish(), content.size()) == content);
}

// Bytes 4 to 7 are the modification time, byte 9 the system (RFC 1952, 2.3).
TEST(Gzip, HeaderHasNeitherTimeNorSystem) {
  GzipWriter writer;
  writer.Append("x");
  const std::string file = writer.Finish();
  EXPECT_EQ(file.substr(4, 4), std::string(4, '\0'));
  EXPECT_EQ(file[9], '\xff');
}

}  // namespace
}  // namespace drydock
