// OpenSSL's macros, which Swift can't see, as functions.
#ifndef YAP_OPENSSL_SHIM_H
#define YAP_OPENSSL_SHIM_H
#if defined(__linux__) && __has_feature(modules)
// OpenSSL includes parts of the C library. With these they stay declarations of Swift's modules of it; else Swift takes
// them for OpenSSL's, and a file that only uses pthread_attr_t would have to import this module.
#pragma clang module import SwiftGlibc
#pragma clang module import SwiftOverlayShims
#endif
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#endif
