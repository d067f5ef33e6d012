// What Swift's Glibc module leaves out: epoll, eventfd, accept4.
#ifndef YAP_LINUX_SHIM_H
#define YAP_LINUX_SHIM_H
#include <errno.h>
#include <malloc.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <arpa/inet.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

// Declared here because _GNU_SOURCE, which shows it, would give this module another fd_set than Glibc's.
extern int accept4(int descriptor, struct sockaddr *address, socklen_t *length, int flags);
#endif
