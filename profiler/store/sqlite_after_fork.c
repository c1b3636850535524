// SQLite, with the function of sqlite_after_fork.h.
#include <sqlite3.c>

void sqlite3_forget_files(void) { inodeList = 0; }
