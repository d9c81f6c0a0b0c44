// "What does a shared library take from others?" The libraries are compiled here.
#include "capture/standins/elf_symbols.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/files.h"
#include "core/base/process.h"

namespace drydock::capture {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Not;

class ElfSymbols : public testing::Test {
 protected:
  ElfSymbols() : folder_(StagedDirectory::Create(testing::TempDir() + "elf_symbols").value()) {}

  std::string Path(const std::string& name) const { return folder_.path() + "/" + name; }

  // Compiles C to a shared library of this name.
  void Build(const std::string& name, const std::string& source,
             const std::vector<std::string>& more = {}) {
    ASSERT_TRUE(folder_.Write(name + ".c", source).ok());
    std::vector<std::string> command = {"cc",        "-shared",         "-fPIC",
                                        "-nostdlib", Path(name + ".c"), "-Wl,-soname," + name,
                                        "-o",        Path(name)};
    command.insert(command.end(), more.begin(), more.end());
    const Result<std::string> built = RunCommand(command);
    ASSERT_TRUE(built.ok()) << built.error().ToString();
  }

  WantedSymbols Wanted(const std::string& name) const {
    return ParseWantedSymbols(ReadFile(Path(name)).value(), name).value();
  }

  StagedDirectory folder_;
};

TEST_F(ElfSymbols, LibrariesSymbolsAndVersions) {
  ASSERT_TRUE(folder_.Write("map", "one_1.0 { global: *; };\n").ok());
  Build("libone.so.1", "int one(void) { return 1; }", {"-Wl,--version-script=" + Path("map")});
  Build("libtwo.so.2", "int two(void) { return 2; }");
  Build("user.so",
        "int one(void); int two(void); int own(void) { return one() + two(); }\n"
        "int nobodys(void); int other(void) { return nobodys(); }",
        {Path("libone.so.1"), Path("libtwo.so.2")});
  const WantedSymbols wanted = Wanted("user.so");
  EXPECT_THAT(wanted.libraries, ElementsAre("libone.so.1", "libtwo.so.2"));
  EXPECT_THAT(wanted.symbols, Contains(WantedSymbol{"one", "libone.so.1", "one_1.0"}));
  EXPECT_THAT(wanted.symbols, Contains(WantedSymbol{"two", "", ""}));
  EXPECT_THAT(wanted.symbols, Contains(WantedSymbol{"nobodys", "", ""}));
  EXPECT_THAT(wanted.symbols, Not(Contains(WantedSymbol{"own", "", ""})));
}

// Both hash tables tell the number of symbols.
TEST_F(ElfSymbols, OlderHashTables) {
  const std::string source = "int far(void); int own(void) { return far(); }";
  Build("gnu.so", source, {"-Wl,--hash-style=gnu"});
  Build("sysv.so", source, {"-Wl,--hash-style=sysv"});
  Build("nothing.so", "int far(void); int (*const own)(void) = far;", {"-Wl,--hash-style=gnu"});
  for (const char* name : {"gnu.so", "sysv.so", "nothing.so"}) {
    EXPECT_THAT(Wanted(name).symbols, Contains(WantedSymbol{"far", "", ""})) << name;
  }
}

TEST_F(ElfSymbols, OtherFilesWantNothing) {
  EXPECT_TRUE(ParseWantedSymbols("", "empty").value().symbols.empty());
  EXPECT_TRUE(ParseWantedSymbols("INPUT(libc.so.6)", "script.so").value().libraries.empty());
}

TEST_F(ElfSymbols, DamagedFiles) {
  Build("libone.so.1", "int far(void); int own(void) { return far(); }");
  const std::string whole = ReadFile(Path("libone.so.1")).value();
  const auto cut = ParseWantedSymbols(std::string_view(whole).substr(0, 200), "cut.so");
  ASSERT_FALSE(cut.ok());
  EXPECT_EQ(cut.error().ToString(),
            "cut.so: error: is no complete shared library: its program headers end too early");
  // No prefix of a library crashes the reader.
  for (size_t size = 0; size < whole.size(); size += 37) {
    (void)ParseWantedSymbols(std::string_view(whole).substr(0, size), "cut.so");
  }
}

TEST_F(ElfSymbols, NamesInTheData) {
  Build("user.so",
        "const char* names[] = {\"cuMemCreate\", \"nvmlInit_v2\", \"cudaMalloc\", \"cuda\", "
        "\"custom\",\n"
        "  \"cuInit failed\", \"my_cuInit\"};");
  std::set<std::string> names;
  AddNamedSymbols(ReadFile(Path("user.so")).value(), &names);
  EXPECT_THAT(names, ElementsAre("cuMemCreate", "nvmlInit_v2"));
}

TEST_F(ElfSymbols, Archives) {
  Build("own.o",
        "int own(void) { return 1; } static int hidden(void) { return 2; }\n"
        "int (*const other)(void) = hidden;",
        {"-Wl,-r", "-no-pie"});
  const auto none = ReadArchiveSymbols(Path("own.o"));
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().message(), "is no archive with an index of its symbols (made by 'ar s')");
}

}  // namespace
}  // namespace drydock::capture
