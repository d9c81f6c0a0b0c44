// The program behind the stand-ins. The system starts it as `intercept FOLDER/bin/NAME ARGUMENTS`
// (the stand-in's first line names it), preload.so as `PATH FOLDER/bin/NAME ARGUMENTS`.
#include <cstdio>
#include <string>
#include <vector>

#include "capture/intercept/interceptor.h"
#include "core/base/files.h"

int main(int argc, char** argv) {
  if (argc < 2) {
    fprintf(stderr, "intercept: drydock-capture starts this program\n");
    return 2;
  }
  const std::string stand_in = argv[1];
  const std::string folder = drydock::DirectoryOf(drydock::DirectoryOf(stand_in));
  std::vector<std::string> words(argv + 1, argv + argc);
  const bool by_name = argv[0] == folder + "/intercept";
  words.front() = by_name ? drydock::BaseName(stand_in) : std::string(argv[0]);
  return drydock::capture::Intercept(folder, words);
}
