// Tests messages that cannot be written.
#include "base/say.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string>

namespace xlaprof {
namespace {

// Says something where standard error is `fd`, and ends the process with 7.
[[noreturn]] void SayTo(int fd, sighandler_t on_sigpipe) {
  std::signal(SIGPIPE, on_sigpipe);
  if (fd < 0) {
    close(STDERR_FILENO);
  } else {
    dup2(fd, STDERR_FILENO);
  }
  errno = EDOM;
  Say(std::string(100'000, 'x'));
  sigset_t blocked, pending;
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  sigpending(&pending);
  _exit(errno == EDOM && sigismember(&blocked, SIGPIPE) == 0 && sigismember(&pending, SIGPIPE) == 0
            ? 7
            : 1);
}

TEST(SayDeathTest, WhatCannotBeSaidChangesNothing) {
  int broken[2], full[2];
  ASSERT_EQ(pipe2(broken, O_CLOEXEC), 0);
  close(broken[0]);
  ASSERT_EQ(pipe2(full, O_CLOEXEC | O_NONBLOCK), 0);
  const int full_device = open("/dev/full", O_WRONLY | O_CLOEXEC);
  for (const sighandler_t on_sigpipe : {SIG_DFL, SIG_IGN}) {
    for (const int fd : {-1, full_device, broken[1], full[1]})
      EXPECT_EXIT(SayTo(fd, on_sigpipe), testing::ExitedWithCode(7), "") << fd;
  }
  close(full_device);
  for (const int fd : {broken[1], full[0], full[1]}) close(fd);
}

TEST(SayDeathTest, SaysAllOfIt) {
  const auto work = [] {
    Say("a message\n");
    _exit(0);
  };
  EXPECT_EXIT(work(), testing::ExitedWithCode(0), "^a message\n$");
}

}  // namespace
}  // namespace xlaprof
