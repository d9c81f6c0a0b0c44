// drydock-sweep: one prediction for each value of some keys, side by side.
#include "study/commands.h"

int main(int argc, char** argv) { return drydock::RunTool(argc, argv, drydock::MakeSweepCommand); }
