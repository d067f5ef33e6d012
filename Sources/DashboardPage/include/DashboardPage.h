#ifndef DASHBOARD_PAGE_H
#define DASHBOARD_PAGE_H

#include <stddef.h>

/// A file of the dashboard's page. All of it lives as long as the process.
typedef struct {
    /// The path below this folder, as "js/main.js".
    const char *path;
    const unsigned char *bytes;
    size_t count;
} DashboardPageFile;

/// How many files there are.
size_t dashboardPageFileCount(void);

/// The file of a number below `dashboardPageFileCount`.
DashboardPageFile dashboardPageFile(size_t index);

#endif
