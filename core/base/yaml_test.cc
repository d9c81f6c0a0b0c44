#include "core/base/yaml.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>

#include "core/base/files.h"
#include "core/testing/unit_testing.h"

namespace drydock {
namespace {

using testing::ErrorText;
using testing::TemporaryDirectory;

std::string ErrorOf(const std::string& text) { return ErrorText(ParseYaml(text, "f.yaml")); }

bool Same(const YamlNode& a, const YamlNode& b) {
  if (a.kind != b.kind || a.scalar != b.scalar || a.items.size() != b.items.size() ||
      a.entries.size() != b.entries.size()) {
    return false;
  }
  for (size_t i = 0; i < a.items.size(); ++i) {
    if (!Same(a.items[i], b.items[i])) return false;
  }
  for (size_t i = 0; i < a.entries.size(); ++i) {
    if (!Same(a.entries[i].first, b.entries[i].first) ||
        !Same(a.entries[i].second, b.entries[i].second)) {
      return false;
    }
  }
  return true;
}

// ---- Parsing --------------------------------------------------------------------------------

TEST(ParseYamlTest, TreeWithPlaces) {
  const Result<YamlNode> root = ParseYaml("a: 1\nb: [x, 'y z']\nc:\n  d: ~\n", "f.yaml");
  ASSERT_TRUE(root.ok());
  EXPECT_EQ(root->Find("a")->scalar, "1");
  EXPECT_EQ(root->Find("b")->items[1].scalar, "y z");
  EXPECT_EQ(root->Find("b")->items[1].location.line, 2);
  EXPECT_EQ(root->Find("b")->items[1].location.column, 8);
  EXPECT_EQ(root->Find("b")->items[1].source_line, "b: [x, 'y z']");
  EXPECT_EQ(root->Find("c")->Find("d")->kind, YamlNode::Kind::kNull);
  EXPECT_EQ(root->Find("z"), nullptr);
}

TEST(ParseYamlTest, ColumnsCountCharacters) {
  const Result<YamlNode> root = ParseYaml("\xEF\xBB\xBF{é: ü, x: 1}\n", "f.yaml");
  ASSERT_TRUE(root.ok()) << root.error().ToString();
  EXPECT_EQ(root->Find("x")->location.column, 11);
}

TEST(ParseYamlTest, RefusesEmptyFiles) {
  for (const char* text : {"", "\n\n", "# only a comment\n", "---\n", "~", "\xEF\xBB\xBF"}) {
    EXPECT_EQ(ErrorOf(text), "f.yaml: error: the file is empty") << text;
  }
}

TEST(ParseYamlTest, RefusesMalformedYaml) {
  EXPECT_EQ(ErrorOf("a: [1, 2\n"),
            "f.yaml:2:1: error: not valid YAML: end of sequence flow not found");
  EXPECT_EQ(ErrorOf("a: 1\n- b\n"),
            "f.yaml:2:1: error: not valid YAML: end of map not found\n"
            "  - b\n"
            "  ^");
  EXPECT_EQ(ErrorOf("a: b: c\n"),
            "f.yaml:1:5: error: not valid YAML: illegal map value\n"
            "  a: b: c\n"
            "      ^");
  EXPECT_EQ(ErrorOf("a:\n\tb: 1\n"),
            "f.yaml:2:3: error: not valid YAML: illegal map value\n"
            "  \tb: 1\n"
            "  \t ^");
  EXPECT_EQ(ErrorOf("a: \"open\n"),
            "f.yaml:1:4: error: this quote is not closed\n"
            "  a: \"open\n"
            "     ^");
}

TEST(ParseYamlTest, RefusesForbiddenConstructs) {
  EXPECT_EQ(ErrorOf("a: 1\nb: 2\na: 3\n"),
            "f.yaml:3:1: error: duplicate key 'a'; it is already given in line 1\n"
            "  a: 3\n"
            "  ^");
  EXPECT_EQ(ErrorOf("a: {x: 1, x: 2}\n"),
            "f.yaml:1:11: error: duplicate key 'x'; it is already given in line 1\n"
            "  a: {x: 1, x: 2}\n"
            "            ^");
  EXPECT_EQ(ErrorOf("? [1, 2]\n: b\n"),
            "f.yaml:1:3: error: a key must be a plain word\n"
            "  ? [1, 2]\n"
            "    ^");
  EXPECT_EQ(ErrorOf("a: 1\n---\nb: 2\n"),
            "f.yaml:2:1: error: only one document is expected\n"
            "  ---\n"
            "  ^");
  EXPECT_EQ(ErrorOf("a: !secret 1\n"),
            "f.yaml:1:4: error: the tag '!secret' has no meaning here\n"
            "  a: !secret 1\n"
            "     ^");
  EXPECT_EQ(ErrorOf("? " + std::string(300, 'k') + "\n: 1\n").substr(0, 42),
            "f.yaml:1:3: error: this key is too long\n  ");
}

TEST(ParseYamlTest, RefusesBytesThatAreNotText) {
  EXPECT_EQ(ErrorOf(std::string("a: b\0c\n", 7)),
            "f.yaml:1:5: error: the control character 0x00 does not belong in a text file\n"
            "  a: b?c\n"
            "      ^");
  EXPECT_EQ(ErrorOf("a: 1\nb: \x1b[2J\n"),
            "f.yaml:2:4: error: the control character 0x1b does not belong in a text file\n"
            "  b: ?[2J\n"
            "     ^");
  EXPECT_EQ(ErrorOf("a: \"\\e[31mred\"\n"),
            "f.yaml:1:4: error: this value has a control character; leave it out\n"
            "  a: \"\\e[31mred\"\n"
            "     ^");
  EXPECT_EQ(ErrorOf("a: \"\\x9b31m\"\n").substr(0, 46),
            "f.yaml:1:4: error: this value has a control ch");
  EXPECT_EQ(ErrorOf("a: \"tab\\t and line\\n\"\n"), "ok");
  EXPECT_EQ(ErrorOf("a: caf\xe9\n").substr(0, 46),
            "f.yaml:1:7: error: byte 0xe9 is not UTF-8 text");
  for (const char* bad : {"\x80", "\xc3", "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80",
                          "\xf0\x80\x80\xaf", "\xf5\x80\x80\x80", "\xf4\x90\x80\x80", "\xff\xfe"}) {
    EXPECT_NE(ErrorOf(std::string("a: ") + bad).find("is not UTF-8 text"), std::string::npos);
  }
  EXPECT_EQ(ErrorOf("a: é€😀\n"), "ok");
}

TEST(ParseYamlTest, AliasesAreExpanded) {
  const Result<YamlNode> root = ParseYaml("a: &x {k: [1, 2]}\nb: *x\n", "f.yaml");
  ASSERT_TRUE(root.ok());
  EXPECT_TRUE(Same(*root->Find("a"), *root->Find("b")));
  EXPECT_EQ(ErrorOf("a: *nowhere\n"),
            "f.yaml:1:4: error: not valid YAML: the referenced anchor is not defined\n"
            "  a: *nowhere\n"
            "     ^");
  EXPECT_EQ(ErrorOf("a: &x [1, *x]\n"),
            "f.yaml:1:11: error: this alias is inside the value it refers to\n"
            "  a: &x [1, *x]\n"
            "            ^");
}

TEST(ParseYamlTest, AnArgumentMayBeGivenAgainWithItsValue) {
  EXPECT_EQ(ErrorOf("a: {--x: 1, --y: 2, --x: 1}\n"), "ok");
  const Result<YamlNode> root = ParseYaml("--x: 1\n--x: 1\n--y: {z: 3}\n", "f.yaml");
  ASSERT_TRUE(root.ok());
  EXPECT_EQ(ToYaml(*root), "{'--x': '1', '--y': {'z': '3'}}");
  const char* message =
      "f.yaml:2:1: error: duplicate key '--x'; it is already given in line 1\n"
      "  --x: 2\n"
      "  ^";
  EXPECT_EQ(ErrorOf("--x: 1\n--x: 2\n"), message);
  EXPECT_EQ(ErrorOf("--x: [1]\n--x: [1]\n").substr(0, 40), std::string(message).substr(0, 40));
}

TEST(ParseYamlTest, MergeKeysAddWhatAMapLacks) {
  const auto tree = [](const std::string& text) {
    const Result<YamlNode> root = ParseYaml(text, "f.yaml");
    return root.ok() ? ToYaml(*root->Find("b")) : root.error().ToString();
  };
  EXPECT_EQ(tree("a: &a {x: 1, y: 2}\nb:\n  <<: *a\n  y: 3\n"), "{'x': '1', 'y': '3'}");
  EXPECT_EQ(tree("a: &a {x: 1, y: 2}\nb: {y: 3, <<: *a, z: 4}\n"),
            "{'y': '3', 'x': '1', 'z': '4'}");
  EXPECT_EQ(tree("a: &a {x: 1}\nc: &c {x: 2, y: 2}\nb: {<<: [*a, *c]}\n"), "{'x': '1', 'y': '2'}");
  EXPECT_EQ(tree("a: &a {x: 1}\nc: &c {<<: *a, y: 2}\nb: {<<: *c}\n"), "{'x': '1', 'y': '2'}");
  EXPECT_EQ(tree("b: {<<: {x: 1}, y: 2}\n"), "{'x': '1', 'y': '2'}");
  EXPECT_EQ(tree("b: {\"<<\": 1, y: <<}\n"), "{'<<': '1', 'y': '<<'}") << "a name, not a merge key";
  const Result<YamlNode> root = ParseYaml("a: &a\n  x: 1\nb:\n  <<: *a\n", "f.yaml");
  ASSERT_TRUE(root.ok());
  EXPECT_EQ(root->Find("b")->Find("x")->location.line, 2) << "where the value is written";
  EXPECT_EQ(tree("a: &a 1\nb: {y: 2, <<: *a}\n"),
            "f.yaml:2:11: error: '<<' takes a map, or a list of maps, whose keys it adds\n"
            "  b: {y: 2, <<: *a}\n"
            "            ^");
  EXPECT_EQ(tree("a: &a {x: 1}\nb:\n  <<: [*a, 2]\n"),
            "f.yaml:3:3: error: '<<' takes a map, or a list of maps, whose keys it adds\n"
            "    <<: [*a, 2]\n"
            "    ^");
}

// ---- Hostile input: bounded time and memory, and an error ------------------------------------

double Seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

TEST(HostileYamlTest, AliasesThatMultiply) {
  std::string text = "l0: &l0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 20; ++i) {
    text += "l" + std::to_string(i) + ": &l" + std::to_string(i) + " [";
    for (int k = 0; k < 10; ++k) text += "*l" + std::to_string(i - 1) + (k < 9 ? ", " : "]\n");
  }
  EXPECT_NE(ErrorOf(text).find("error: the document is too large or refers to itself"),
            std::string::npos);
}

TEST(HostileYamlTest, ManyAliasesOfALongScalar) {
  std::string text = "a: &x " + std::string(1 << 20, 'v') + "\nb: [";
  for (int i = 0; i < 50000; ++i) text += "*x, ";
  text += "]\n";
  EXPECT_NE(ErrorOf(text).find("too large"), std::string::npos);
}

TEST(HostileYamlTest, DeepNesting) {
  for (const char* open : {"[", "{a: ", "- ", "? "}) {
    std::string text;
    for (int i = 0; i < 100000; ++i) text += open;
    EXPECT_NE(ErrorOf(text), "ok") << open;
  }
  EXPECT_EQ(ErrorOf(std::string(60, '[') + std::string(60, ']')), "ok");
  EXPECT_EQ(ErrorOf(std::string(70, '[') + std::string(70, ']')).substr(0, 72),
            "f.yaml:1:65: error: the document is too large or refers to itself\n  ...[");
}

TEST(HostileYamlTest, ManyValuesOnOneLine) {
  std::string text = "a: [";
  for (int i = 0; i < 99000; ++i) text += "1234567, ";
  EXPECT_LT(Seconds([&] { EXPECT_EQ(ErrorOf(text + "0]"), "ok"); }), 20);
  for (int i = 0; i < 1100; ++i) text += "1, ";
  EXPECT_NE(ErrorOf(text + "0]").find("too large"), std::string::npos);
}

TEST(HostileYamlTest, ManyKeys) {
  std::string text;
  for (int i = 0; i < 49000; ++i) text += "key" + std::to_string(i) + ": 1\n";
  EXPECT_LT(Seconds([&] { EXPECT_EQ(ErrorOf(text), "ok"); }), 20);
}

TEST(HostileYamlTest, HugeFile) {
  EXPECT_EQ(ErrorOf(std::string(17 << 20, ' ')), "f.yaml: error: the file is larger than 16 MiB");
}

TEST(LoadYamlTest, FilesThatCannotBeRead) {
  const TemporaryDirectory dir;
  EXPECT_EQ(ErrorText(LoadYaml(dir / "none.yaml")),
            dir / "none.yaml" + ": error: cannot read: No such file or directory");
  EXPECT_EQ(ErrorText(LoadYaml(dir.path())), dir.path() + ": error: cannot read: Is a directory");
  ASSERT_TRUE(WriteFileAtomically(dir / "empty.yaml", "").ok());
  EXPECT_EQ(ErrorText(LoadYaml(dir / "empty.yaml")),
            dir / "empty.yaml" + ": error: the file is empty");
  if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  ASSERT_EQ(::chmod((dir / "empty.yaml").c_str(), 0), 0);
  EXPECT_EQ(ErrorText(LoadYaml(dir / "empty.yaml")),
            dir / "empty.yaml" + ": error: cannot read: Permission denied");
}

// ---- ToYaml -----------------------------------------------------------------------------------

TEST(ToYamlTest, ReadsBackAsTheSameTree) {
  for (const char* text : {"a: 1", "a: 'it''s'", "a: \"line\\nbreak \\\\ \\\" \\t tab\"",
                           "a: |\n  two\n  lines\n", "a: 'null'\nb: null\nc: {}\nd: []\n",
                           "- [a, [b, c]]\n- {k: {l: m}}\n", "a: ' blanks '", "a: ''", "'': x",
                           "a: 'x: y, [z] #'", "a: é€😀", "\"k\\ney\": v"}) {
    const Result<YamlNode> first = ParseYaml(text, "f");
    ASSERT_TRUE(first.ok()) << text << first.error().ToString();
    const Result<YamlNode> second = ParseYaml(ToYaml(*first), "f");
    ASSERT_TRUE(second.ok()) << ToYaml(*first) << second.error().ToString();
    EXPECT_TRUE(Same(*first, *second)) << ToYaml(*first);
  }
  EXPECT_EQ(ToYaml(*ParseYaml("a: [1, {b: it's}]", "f")), "{'a': ['1', {'b': 'it''s'}]}");
}

// ---- --set --------------------------------------------------------------------------------

std::string AfterSet(const std::string& text, const std::string& assignment) {
  Result<YamlNode> root = ParseYaml(text, "f.yaml");
  if (!root.ok()) return root.error().ToString();
  const Status status = ApplyOverride(assignment, &*root);
  return status.ok() ? ToYaml(*root) : status.error().ToString();
}

TEST(ApplyOverrideTest, ReplacesAndAdds) {
  EXPECT_EQ(AfterSet("a: {b: 1}", "a.b=2"), "{'a': {'b': '2'}}");
  EXPECT_EQ(AfterSet("a: {b: 1}", "a.c=2"), "{'a': {'b': '1', 'c': '2'}}");
  EXPECT_EQ(AfterSet("a: {b: 1}", "x.y.z=2"), "{'a': {'b': '1'}, 'x': {'y': {'z': '2'}}}");
  EXPECT_EQ(AfterSet("a:", "a.b=2"), "{'a': {'b': '2'}}") << "an empty section becomes a map";
  EXPECT_EQ(AfterSet("a: {b: 1}", "a={c: [1, 2]}"), "{'a': {'c': ['1', '2']}}");
  EXPECT_EQ(AfterSet("a: {b: 1}", "a.b=x=y"), "{'a': {'b': 'x=y'}}");
  EXPECT_EQ(AfterSet("a: {b: 1}", "a.b=400 Gbps"), "{'a': {'b': '400 Gbps'}}");
  EXPECT_EQ(AfterSet("a: {b: 1}", "a.b=''"), "{'a': {'b': ''}}");
}

TEST(ApplyOverrideTest, Mistakes) {
  const auto set = [](const std::string& text) { return AfterSet("a: {b: 1, l: [1]}", text); };
  EXPECT_EQ(set("a.b"), "--set a.b: error: expected section.key=value");
  EXPECT_EQ(set("=1"), "--set =1: error: expected section.key=value");
  EXPECT_EQ(set(""), "--set : error: expected section.key=value");
  EXPECT_EQ(set("a.b="), "--set a.b=: error: no value follows the '='");
  EXPECT_EQ(set("a.b= "), "--set a.b= : error: no value follows the '='");
  EXPECT_EQ(set("a..b=1"), "--set a..b=1: error: 'a..b' has an empty name in it");
  EXPECT_EQ(set(".a=1"), "--set .a=1: error: '.a' has an empty name in it");
  EXPECT_EQ(set("a.=1"), "--set a.=1: error: 'a.' has an empty name in it");
  EXPECT_EQ(set("a.b.c=1"), "--set a.b.c=1: error: 'c' is inside a single value, not a section");
  EXPECT_EQ(set("a.l.0=1"), "--set a.l.0=1: error: '0' is inside a list, not a section");
  EXPECT_EQ(set("a.b=[1"), "--set a.b=[1: error: not valid YAML: end of sequence flow not found");
  EXPECT_EQ(set("a.b=\x01"),
            "--set a.b=?: error: the control character 0x01 does not belong in a text file");
  std::string deep = "x";
  for (int i = 0; i < 60000; ++i) deep += ".x";
  EXPECT_NE(set(deep + "=1").find("error: the path has too many names"), std::string::npos);
}

TEST(ApplyOverrideTest, MistakesInTheValueNameTheOption) {
  Result<YamlNode> root = ParseYaml("a: {b: 1}", "f.yaml");
  ASSERT_TRUE(ApplyOverride("a.b=many", &*root).ok());
  EXPECT_EQ(ErrorText(AsInteger(*root->Find("a")->Find("b"))),
            "--set a.b=many: error: 'many' is not a whole number");
}

// ---- Values and the reader ----------------------------------------------------------------------

Result<YamlNode> Value(const std::string& text) {
  ASSIGN_OR_RETURN(YamlNode root, ParseYaml("v: " + text, "f"));
  root.entries[0].second.source_line.clear();
  return root.entries[0].second;
}

TEST(YamlValueTest, WholeNumbers) {
  const auto error = [](const char* text) { return ErrorText(AsInteger(*Value(text))); };
  EXPECT_EQ(*AsInteger(*Value("-9223372036854775808")), INT64_MIN);
  EXPECT_EQ(*AsInteger(*Value("9223372036854775807")), INT64_MAX);
  EXPECT_EQ(error("9223372036854775808"), "f:1:4: error: '9223372036854775808' is too large");
  EXPECT_EQ(error("1.5"), "f:1:4: error: '1.5' is not a whole number");
  EXPECT_EQ(error("1e3"), "f:1:4: error: '1e3' is not a whole number");
  EXPECT_EQ(error("0x10"), "f:1:4: error: '0x10' is not a whole number");
  EXPECT_EQ(error("'1 '"), "f:1:4: error: '1 ' is not a whole number");
  EXPECT_EQ(error("[1]"), "f:1:4: error: expected a whole number, found a list");
  EXPECT_EQ(error("{a: 1}"), "f:1:4: error: expected a whole number, found a section");
  EXPECT_EQ(error("~"), "f:1:4: error: expected a whole number, found nothing");
}

TEST(YamlValueTest, NumbersAndBooleans) {
  EXPECT_EQ(*AsNumber(*Value("1e-3")), 0.001);
  EXPECT_EQ(ErrorText(AsNumber(*Value("nan"))), "f:1:4: error: 'nan' is not a number");
  EXPECT_EQ(ErrorText(AsNumber(*Value("inf"))), "f:1:4: error: 'inf' is not a number");
  EXPECT_EQ(ErrorText(AsNumber(*Value("1e999"))),
            "f:1:4: error: '1e999' is too large or too small");
  EXPECT_EQ(ErrorText(AsNumber(*Value("12x"))), "f:1:4: error: '12x' is not a number");
  EXPECT_TRUE(*AsBool(*Value("true")));
  EXPECT_EQ(ErrorText(AsBool(*Value("yes"))), "f:1:4: error: 'yes' is neither true nor false");
  EXPECT_EQ(ErrorText(AsString(*Value("[a]"))), "f:1:4: error: expected a name, found a list");
}

// Reads `text` as a section with one key of each kind.
std::string ReadSection(const std::string& text) {
  const Result<YamlNode> root = ParseYaml(text, "f.yaml");
  if (!root.ok()) return root.error().ToString();
  Diagnostics diagnostics;
  YamlReader reader(*root, "model", &diagnostics);
  int layers = 0, kind = 0;
  double dropout = 0;
  Time latency;
  reader.Read("layers", &layers);
  reader.CheckRange("layers", layers, 1, 100);
  reader.ReadOptional("dropout", &dropout);
  reader.ReadOptional("latency", &latency);
  reader.ReadChoice("kind", {"ring", "tree"}, &kind, false);
  reader.Finish();
  return ErrorText(diagnostics.ToStatus());
}

TEST(YamlReaderTest, GoodSections) {
  EXPECT_EQ(ReadSection("layers: 3"), "ok");
  EXPECT_EQ(ReadSection("{layers: 3, dropout: 0.1, latency: 5 ns, kind: tree}"), "ok");
}

TEST(YamlReaderTest, ReportsEachMistakeOnce) {
  EXPECT_EQ(ReadSection("dropout: 0"),
            "f.yaml:1:1: error: 'model' lacks the key 'layers'\n"
            "  dropout: 0\n"
            "  ^")
      << "and no message about the range of the value 0";
  EXPECT_EQ(ReadSection("layers: many"),
            "f.yaml:1:9: error: 'many' is not a whole number\n"
            "  layers: many\n"
            "          ^");
  EXPECT_EQ(ReadSection("layers: 101"),
            "f.yaml:1:9: error: 'layers' is 101; it must be between 1 and 100\n"
            "  layers: 101\n"
            "          ^");
  EXPECT_EQ(ReadSection("layers: 3000000000"),
            "f.yaml:1:9: error: '3000000000' is too large\n"
            "  layers: 3000000000\n"
            "          ^");
  EXPECT_EQ(ReadSection("layers: 1\nlatency: 5 m"),
            "f.yaml:2:10: error: 'm' is not a time unit; did you mean 'ms'?; valid units are ps, "
            "ns, us, ms, s\n"
            "  latency: 5 m\n"
            "           ^");
  EXPECT_EQ(
      ReadSection("layers: 1\nkind: rign"),
      "f.yaml:2:7: error: 'rign' is not a valid kind; did you mean 'ring'?; valid values are ring, "
      "tree\n"
      "  kind: rign\n"
      "        ^");
  EXPECT_EQ(ReadSection("layers: 1\nkind: [ring]"),
            "f.yaml:2:7: error: expected one of ring, tree, found a list\n"
            "  kind: [ring]\n"
            "        ^");
  EXPECT_EQ(ReadSection("layers: 1\nlayer: 2"),
            "f.yaml:2:1: error: unknown key 'layer' in 'model'; did you mean 'layers'?; valid keys "
            "are layers, dropout, latency, kind\n"
            "  layer: 2\n"
            "  ^");
  EXPECT_EQ(ReadSection("[1, 2]"),
            "f.yaml:1:1: error: 'model' must be a section of keys and values, found a list\n"
            "  [1, 2]\n"
            "  ^");
}

TEST(YamlReaderTest, ReportsAllMistakesTogether) {
  EXPECT_EQ(
      ReadSection("layers: x\ndropout: y\nz: 1\n"),
      "f.yaml:1:9: error: 'x' is not a whole number\n"
      "  layers: x\n"
      "          ^\n"
      "f.yaml:2:10: error: 'y' is not a number\n"
      "  dropout: y\n"
      "           ^\n"
      "f.yaml:3:1: error: unknown key 'z' in 'model'; valid keys are layers, dropout, latency, "
      "kind\n"
      "  z: 1\n"
      "  ^");
}

TEST(DiagnosticsTest, KeepsAHundredAtMost) {
  Diagnostics diagnostics;
  for (int i = 0; i < 5000; ++i) diagnostics.Add(Error("mistake"));
  const Status status = diagnostics.ToStatus();
  EXPECT_EQ(status.error().diagnostics().size(), 101u);
  EXPECT_EQ(status.error().diagnostics().back().ToString(), "error: and more like these");
}

}  // namespace
}  // namespace drydock
