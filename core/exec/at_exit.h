// The end of the program: the devices finish what they were given, then static objects are
// destroyed.
//
// exit() destroys static objects in the reverse of the order in which they were made. They include
// objects of libraries that the devices' work needs, such as oneDNN's kernels, and the recorder.
// Therefore the devices finish at two moments before that. When exit() is called on the main
// thread, or main returns, it first destroys that thread's thread_local objects, and one of them
// waits for the devices. Then the newest handler of exit() waits for them again, for other threads
// that call exit(), and ends their threads.
//
// A program that ends otherwise (abort, an exception that nobody catches, _exit, quick_exit, a
// signal) finishes nothing, and neither does a forked child, which has no device of its own.
#pragma once

#include "base/status.h"

namespace xlaprof::lazy::at_exit {

// Makes exit() finish the devices' work before it destroys what was made until now. Call it after
// whatever may make static objects that the work needs: a compilation, the first execution of a
// program.
void FinishBeforeWhatExists();

// Makes the calling thread wait for the devices when it ends, if it is the main one. Each thread
// that gives work to a device calls it.
void WatchMainThread();

// Returns an error once exit() destroys what the devices need. Nothing can be computed then.
absl::Status Status();

}  // namespace xlaprof::lazy::at_exit
