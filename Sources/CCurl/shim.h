// libcurl's setters take any type, which Swift can't call: each shim fixes one.
#ifndef YAP_CURL_SHIM_H
#define YAP_CURL_SHIM_H

#include <curl/curl.h>
#include <sys/ioctl.h>

// The header's macros of these names check types that the shims fix already.
#undef curl_easy_setopt
#undef curl_easy_getinfo
#undef curl_multi_setopt

typedef size_t (*yap_curl_data_function)(char *bytes, size_t size, size_t count, void *context);

static inline CURLcode yap_curl_set_long(CURL *handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode yap_curl_set_offset(CURL *handle, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode yap_curl_set_text(CURL *handle, CURLoption option, const char *value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode yap_curl_set_pointer(CURL *handle, CURLoption option, void *value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode yap_curl_set_list(CURL *handle, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode yap_curl_set_function(CURL *handle, CURLoption option, yap_curl_data_function value) {
    return curl_easy_setopt(handle, option, value);
}

typedef int (*yap_curl_begin_function)(void *context, char *, char *, int, int);

static inline CURLcode yap_curl_set_begin(CURL *handle, yap_curl_begin_function value) {
    return curl_easy_setopt(handle, CURLOPT_PREREQFUNCTION, value);
}

static inline CURLcode yap_curl_get_long(CURL *handle, CURLINFO info, long *value) {
    return curl_easy_getinfo(handle, info, value);
}

static inline CURLcode yap_curl_get_offset(CURL *handle, CURLINFO info, curl_off_t *value) {
    return curl_easy_getinfo(handle, info, value);
}

/// Bytes that went out, as far as the other end's system has said that they came.
static inline curl_off_t yap_curl_arrived_bytes(CURL *handle) {
    curl_off_t sent = 0;
    curl_socket_t socket = CURL_SOCKET_BAD;
    int waiting = 0;
    curl_easy_getinfo(handle, CURLINFO_SIZE_UPLOAD_T, &sent);
    if (curl_easy_getinfo(handle, CURLINFO_ACTIVESOCKET, &socket) == CURLE_OK && socket != CURL_SOCKET_BAD &&
        ioctl(socket, TIOCOUTQ, &waiting) == 0) {
        return sent - waiting;
    }
    return sent;
}

static inline CURLcode yap_curl_get_private(CURL *handle, void **value) {
    return curl_easy_getinfo(handle, CURLINFO_PRIVATE, value);
}

static inline CURLMcode yap_curl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

// curl_multi_info_read's message holds a union, which Swift reads only with care.
static inline CURL *yap_curl_multi_next_done(CURLM *multi, CURLcode *code) {
    int left = 0;
    CURLMsg *message;
    while ((message = curl_multi_info_read(multi, &left))) {
        if (message->msg == CURLMSG_DONE) {
            *code = message->data.result;
            return message->easy_handle;
        }
    }
    return NULL;
}

#endif
