// SQLite, with the function of sqlite_after_fork.h.
#include <sqlite3.c>

void xlaprof_forget_descriptors(void);  // sqlite_descriptors.cc

void sqlite3_forget_files(void) {
  inodeList = 0;
  xlaprof_forget_descriptors();
}
