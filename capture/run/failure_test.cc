#include "capture/run/failure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace drydock::capture {
namespace {

constexpr const char* kTraceback =
    "a warning\n"
    "Traceback (most recent call last):\n"
    "  File \"/home/me/train.py\", line 90, in <module>\n"
    "    main()\n"
    "  File \"/home/me/train.py\", line 12, in main\n"
    "    loss = model(batch)\n"
    "           ^^^^^^^^^^^^\n"
    "  File \"/v/lib/python3.11/site-packages/torch/nn/modules/module.py\", line 7, in _call_impl\n"
    "    return forward_call(*args)\n"
    "  File \"/usr/lib/python3.11/contextlib.py\", line 81, in inner\n"
    "    return func()\n"
    "RuntimeError: shapes do not match\n"
    "a word at the end\n";

TEST(FailureTest, NamesTheInnermostLineOfTheUser) {
  const Error error = FailureError("rank 3", "ended with exit status 1", kTraceback);
  EXPECT_THAT(error.ToString(),
              ::testing::StartsWith("/home/me/train.py:12: error: rank 3: RuntimeError: shapes do "
                                    "not match\n"
                                    "error: rank 3 ended with exit status 1; the end of its "
                                    "stderr:\n"));
  EXPECT_EQ(error.diagnostics()[0].source_line, "loss = model(batch)");
}

// Lines of installed packages are not the user's, unless the program itself is a package.
TEST(FailureTest, AProgramOfAPackage) {
  const auto failure = FindFailure(
      "Traceback (most recent call last):\n"
      "  File \"<frozen runpy>\", line 198, in _run_module_as_main\n"
      "  File \"/v/lib/python3.11/site-packages/torchtitan/train.py\", line 700, in <module>\n"
      "    main()\n"
      "  File \"/v/lib/python3.11/site-packages/torch/optim/adam.py\", line 5, in step\n"
      "    raise ValueError\n"
      "ValueError\n");
  ASSERT_TRUE(failure.has_value());
  EXPECT_EQ(failure->what, "ValueError");
  EXPECT_EQ(failure->place->file, "/v/lib/python3.11/site-packages/torchtitan/train.py");
  EXPECT_EQ(failure->place->line, 700);
}

// PyTorch may lie outside the packages of Python, and so may a program in a folder of its name.
TEST(FailureTest, PyTorchInAFolderOfItsOwn) {
  const std::string program = "  File \"/me/torch/train.py\", line 7, in <module>\n";
  const std::string library = "  File \"/p/torch/optim/adam.py\", line 5, in step\n";
  const auto failure =
      FindFailure("Traceback (most recent call last):\n  File \"/me/a.py\", line 4, in <module>\n" +
                  library + "ValueError\n");
  ASSERT_TRUE(failure.has_value());
  EXPECT_EQ(failure->place->file, "/me/a.py");
  const auto alike = FindFailure("Traceback (most recent call last):\n" + program + "ValueError\n");
  ASSERT_TRUE(alike.has_value());
  EXPECT_EQ(alike->place->file, "/me/torch/train.py");
}

TEST(FailureTest, LinesWithThePrefixOfALauncher) {
  const auto failure = FindFailure(
      "[rank3]: Traceback (most recent call last):\n"
      "[rank3]:   File \"/me/a.py\", line 4, in <module>\n"
      "[rank3]:     x()\n"
      "[rank3]: KeyError: 'x'\n"
      "[W1128] destroy_process_group() was not called\n");
  ASSERT_TRUE(failure.has_value());
  EXPECT_EQ(failure->what, "KeyError: 'x'");
  EXPECT_EQ(failure->place->line, 4);
}

TEST(FailureTest, TheLastOfSeveralExceptions) {
  const auto failure = FindFailure(
      "Traceback (most recent call last):\n"
      "  File \"/me/a.py\", line 1, in f\n"
      "    x()\n"
      "KeyError: 'x'\n"
      "\n"
      "During handling of the above exception, another exception occurred:\n"
      "\n"
      "Traceback (most recent call last):\n"
      "  File \"/me/a.py\", line 3, in <module>\n"
      "    y()\n"
      "OSError: no room\n");
  EXPECT_EQ(failure->what, "OSError: no room");
  EXPECT_EQ(failure->place->line, 3);
}

// Python's fault handler lists the innermost frame first.
TEST(FailureTest, ASignal) {
  const auto failure = FindFailure(
      "Fatal Python error: Segmentation fault\n"
      "\n"
      "Thread 0x00007f (most recent call first):\n"
      "  File \"/usr/lib/python3.11/threading.py\", line 324 in wait\n"
      "  File \"/me/loader.py\", line 9 in next\n"
      "\n"
      "Current thread 0x00007e (most recent call first):\n"
      "  File \"/v/lib/python3.11/site-packages/torch/_ops.py\", line 1 in __call__\n"
      "  File \"/me/a.py\", line 33 in step\n"
      "  File \"/me/a.py\", line 40 in <module>\n"
      "\n"
      "Extension modules: numpy\n");
  EXPECT_EQ(failure->what, "Fatal Python error: Segmentation fault");
  EXPECT_EQ(failure->place->line, 33);
  EXPECT_EQ(failure->place->function, "step");
}

// How the program ended is told also where no line of Python is known.
TEST(FailureTest, AnExceptionWithoutAPlace) {
  const std::string errors =
      "Fatal Python error: Aborted\n\nThread 0x00007f (most recent call first):\n"
      "  <no Python frame>\n";
  EXPECT_EQ(FailureError("rank 0", "had not ended after the time limit of 5 s", errors).ToString(),
            "error: rank 0: Fatal Python error: Aborted\n"
            "error: rank 0 had not ended after the time limit of 5 s; the end of its stderr:\n"
            "Fatal Python error: Aborted\n\nThread 0x00007f (most recent call first):\n"
            "  <no Python frame>");
}

TEST(FailureTest, WordsWithoutPython) {
  EXPECT_EQ(FindFailure("killed\n"), std::nullopt);
  EXPECT_EQ(FailureError("rank 0", "ended with exit status 2", "one\ntwo\n").ToString(),
            "error: rank 0 ended with exit status 2; the end of its stderr:\none\ntwo");
  EXPECT_EQ(FailureError("rank 0", "ended with exit status 2", "").ToString(),
            "error: rank 0 ended with exit status 2");
}

TEST(FailureTest, LastLines) {
  EXPECT_EQ(LastLines("a\nb\nc\n", 2), "b\nc");
  EXPECT_EQ(LastLines("a\nb", 5), "a\nb");
  EXPECT_EQ(LastLines("", 5), "");
}

}  // namespace
}  // namespace drydock::capture
