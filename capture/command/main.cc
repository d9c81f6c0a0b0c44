#include "capture/command/capture_command.h"

int main(int argc, char** argv) {
  return drydock::RunTool(argc, argv, drydock::MakeCaptureCommand);
}
