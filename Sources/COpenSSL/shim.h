// OpenSSL's macros, which Swift can't see, as functions.
#ifndef YAP_OPENSSL_SHIM_H
#define YAP_OPENSSL_SHIM_H
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#endif
