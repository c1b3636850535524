// Declares the function that a forked child calls before it uses SQLite.
#pragma once

// Makes SQLite forget the files that are open. A forked child inherits SQLite's notes about its
// parent's locks, but not the locks. So it must call this before it opens a file, and never use its
// parent's connections.
extern "C" void sqlite3_forget_files(void);
