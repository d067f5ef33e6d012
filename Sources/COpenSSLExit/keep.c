#include "COpenSSLExit.h"

#include <openssl/crypto.h>
#include <stddef.h>

// OpenSSL frees its locks and tables in `exit`, while other threads may still use them: a program that ended during a
// request crashed. Only OpenSSL's first call in a process can turn that off
// (https://docs.openssl.org/3.0/man3/OPENSSL_init_crypto/, "OPENSSL_INIT_NO_ATEXIT"), so it is made before `main`.
__attribute__((constructor)) static void keepUntilTheProcessEnds(void) {
    OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL);
}
