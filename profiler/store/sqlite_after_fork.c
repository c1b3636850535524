// SQLite, with the function of sqlite_after_fork.h.
#include <sqlite3.c>

void xlaprof_sqlite_forget_files(void) { inodeList = 0; }
