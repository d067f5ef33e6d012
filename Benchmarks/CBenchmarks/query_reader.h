// A file that is open with one statement, for the sources of this folder.
#pragma once

#include "query.h"

#include <sqlite3.h>

struct query_reader {
    sqlite3 *database;
    sqlite3_stmt *statement;
};
