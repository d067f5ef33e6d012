// libcurl's setters take any type, which Swift can't call: each shim fixes one.
#ifndef YAP_CURL_SHIM_H
#define YAP_CURL_SHIM_H
#include <curl/curl.h>
#endif
