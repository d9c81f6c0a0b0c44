// A text of words in lines, with the position of each word for messages. Internal to import.
#ifndef DRYDOCK_WORKLOAD_GEN_GRAPH_FOREIGN_TEXT_LINES_H_
#define DRYDOCK_WORKLOAD_GEN_GRAPH_FOREIGN_TEXT_LINES_H_

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace drydock {

class TextLines {
 public:
  struct Word {
    std::string_view text;
    int column = 0;
  };

  // REQUIRES: `text` outlives this object.
  TextLines(const std::string& text, std::string path) : text_(text), path_(std::move(path)) {}

  // Advances to the next line. Returns false at the end. Blanks and tabs separate words; "//" and
  // "#" begin a comment.
  bool Next();
  const std::vector<Word>& words() const { return words_; }
  int line() const { return line_; }

  // Returns an error at a word of the line, or at the line if it has no such word.
  Error ErrorHere(std::string message, size_t word) const;
  Error ErrorAtEnd(std::string message) const {
    return Error(std::move(message), {path_, line_, 0});
  }

 private:
  const std::string& text_;
  const std::string path_;
  size_t next_ = 0;
  int line_ = 0;
  std::string_view current_;
  std::vector<Word> words_;
};

}  // namespace drydock

#endif  // DRYDOCK_WORKLOAD_GEN_GRAPH_FOREIGN_TEXT_LINES_H_
