// The syntax tree of a shell script, as shell_parser.h makes it.
#ifndef DRYDOCK_WORKLOAD_GEN_IMPORT_SHELL_SHELL_SYNTAX_H_
#define DRYDOCK_WORKLOAD_GEN_IMPORT_SHELL_SHELL_SYNTAX_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "workload-gen/import/shell/shell_text.h"

namespace drydock {

struct ShellExpansion;
struct ShellCommand;
using ShellCommandPtr = std::shared_ptr<ShellCommand>;

// A piece of a word.
struct ShellAtom {
  enum class Kind : uint8_t { kChar, kQuotes, kExpansion };  // kQuotes: the word exists, even empty
  Kind kind = Kind::kChar;
  bool quoted = false;
  ShellChar c;  // kChar: the character; otherwise the place
  std::shared_ptr<const ShellExpansion> expansion = nullptr;
};
using ShellWord = std::vector<ShellAtom>;

// $NAME, ${...}, $((...)), $(...), `...`, <(...).
struct ShellExpansion {
  enum class Kind : uint8_t { kParameter, kArithmetic, kCommand, kProcess, kNotUnderstood };
  Kind kind = Kind::kParameter;
  ShellChar at;
  std::string source;  // as the script has it, for messages
  // kParameter: ${!name[index]operation word / word2}
  bool length = false;     // ${#name}
  bool indirect = false;   // ${!name}
  std::string name;        // or one of 0-9 @ * # ? $ ! -
  std::string list;        // "@" or "*": all elements
  bool has_index = false;  // then `index` is an arithmetic expression, or a key
  ShellWord index;
  std::string operation;  // "" - = ? + with or without a colon, # ## % %% / // /# /% ^ ^^ , ,, :
  ShellWord word, word2;
  bool has_word2 = false;
  // kArithmetic has its expression in `word`; kCommand:
  ShellCommandPtr command;  // none for `...`
};

struct ShellElement {  // of an array: value, or [key]=value
  bool has_key = false;
  ShellWord key, value;
};

struct ShellAssignment {
  ShellChar at;
  std::string name;
  bool has_index = false;
  ShellWord index;
  bool append = false;
  bool is_array = false;
  ShellWord value;
  std::vector<ShellElement> elements;
};

struct ShellRedirection {
  enum class Kind : uint8_t { kFile, kHereDocument, kHereString };
  Kind kind = Kind::kFile;
  std::string variable;  // {NAME}> file
  ShellWord target;      // or the text of the here-document
  bool input = false;
};

// A word of a command, or an assignment after export, declare and the like.
struct ShellArgument {
  ShellWord word;
  std::optional<ShellAssignment> assignment;
};

struct ShellTestToken {  // of [[ ... ]]
  std::string sign;      // ( ) && || < >; empty: a word
  ShellWord word;
};

struct ShellCaseArm {
  std::vector<ShellWord> patterns;
  ShellCommandPtr body;
  std::string end;  // ";;" ";&" ";;&"
};

struct ShellCommand {
  enum class Kind : uint8_t {
    kSimple,
    kSequence,    // a; b; c
    kAnd,         // a && b
    kOr,          // a || b
    kPipeline,    // a | b, or ! a
    kBackground,  // a &
    kGroup,       // { a; }
    kSubshell,    // ( a )
    kIf,          // condition, body, condition, body, ..., [else]
    kWhile,       // condition, body
    kUntil,
    kFor,     // for NAME in WORDS
    kSelect,  // select NAME in WORDS
    kForArithmetic,
    kCase,
    kFunction,
    kArithmetic,  // ((...))
    kTest,        // [[ ... ]]
    kCoprocess
  };
  Kind kind = Kind::kSimple;
  ShellChar at;
  std::vector<ShellCommandPtr> children;
  std::vector<ShellRedirection> redirections;
  // kSimple
  std::vector<ShellAssignment> assignments;
  std::vector<ShellArgument> arguments;
  // kFor, kSelect, kFunction, kCoprocess
  std::string name;
  bool has_words = false;  // "in ..."
  // kFor, kSelect: the list; kForArithmetic: three expressions; kArithmetic, kCase: one word
  std::vector<ShellWord> words;
  std::vector<ShellCaseArm> arms;
  std::vector<ShellTestToken> test;
  bool negated = false;  // kPipeline
};

// Returns the text of a word without quotes and expansions; nothing for another word.
std::optional<std::string> LiteralWord(const ShellWord& word);

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_IMPORT_SHELL_SHELL_SYNTAX_H_
