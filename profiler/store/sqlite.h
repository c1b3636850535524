// The one place that includes SQLite: as a library in the program, through its extension API in
// xlaprof_sqlite.so.
#pragma once

#ifdef XLAPROF_SQLITE_EXTENSION
#include <sqlite3ext.h>
extern const sqlite3_api_routines* sqlite3_api;
#else
#include <sqlite3.h>
#endif
