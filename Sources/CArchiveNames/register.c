#include "CArchiveNames.h"

// Swift runs nothing when a program is loaded, and an archive of Apple's may be the first thing that an app reads.
extern void yap_cloudkit_register_archive_names(void);

__attribute__((constructor)) static void registerArchiveNames(void) { yap_cloudkit_register_archive_names(); }
