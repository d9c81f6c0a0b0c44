// drydock-goodput: what failures leave of some days of training.
#include "study/commands.h"

int main(int argc, char** argv) {
  return drydock::RunTool(argc, argv, drydock::MakeGoodputCommand);
}
