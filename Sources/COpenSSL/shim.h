// OpenSSL's macros, which Swift can't see, as functions.
#ifndef YAP_OPENSSL_SHIM_H
#define YAP_OPENSSL_SHIM_H
#if defined(__linux__) && __has_feature(modules)
// OpenSSL includes parts of the C library. With these they stay declarations of Swift's modules of it; else Swift takes
// them for OpenSSL's, and a file that only uses pthread_attr_t would have to import this module.
#pragma clang module import SwiftGlibc
#pragma clang module import SwiftOverlayShims
#endif
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

// A server's settings: TLS 1.2 or later, no renegotiation, nothing kept of a session but its ticket with the client,
// buffers given back while a connection is idle.
static inline int yap_ssl_harden_server(SSL_CTX *context) {
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE);
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE
                                  | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    return SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
}

// Bytes as a file of OpenSSL's. The bytes stay the caller's, and must outlive it.
static inline BIO *yap_bio_reading(const void *bytes, int count) { return BIO_new_mem_buf(bytes, count); }

// What was written into a file in memory; its address lives as long as the file.
static inline long yap_bio_bytes(BIO *file, char **start) { return BIO_get_mem_data(file, start); }

static inline EVP_PKEY *yap_p256_generate(void) { return EVP_EC_gen("P-256"); }

// The public key of a PEM text or nothing. A text that asks for a pass phrase gets none.
static inline EVP_PKEY *yap_pem_public_key(BIO *file) {
    return PEM_read_bio_PUBKEY(file, NULL, NULL, (void *)"");
}

// The private key of a PEM text or nothing, as above.
static inline EVP_PKEY *yap_pem_private_key(BIO *file) {
    return PEM_read_bio_PrivateKey(file, NULL, NULL, (void *)"");
}
#endif
