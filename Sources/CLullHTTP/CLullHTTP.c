// libmicrohttpd is found by the names under which systems have it, and GnuTLS in what it brings.
#include "CLullHTTP.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

// X(type, name, parameters) for each function.
#define FUNCTIONS(X) \
    X(lull_MHD_Daemon *, MHD_start_daemon, (unsigned int flags, uint16_t port, void *accept, void *accept_context, lull_http_handler handle, void *context, ...)) \
    X(int, MHD_quiesce_daemon, (lull_MHD_Daemon *)) \
    X(void, MHD_stop_daemon, (lull_MHD_Daemon *)) \
    X(const info *, MHD_get_daemon_info, (lull_MHD_Daemon *, int kind, ...)) \
    X(const info *, MHD_get_connection_info, (lull_MHD_Connection *, int kind, ...)) \
    X(void, MHD_suspend_connection, (lull_MHD_Connection *)) \
    X(void, MHD_resume_connection, (lull_MHD_Connection *)) \
    X(int, MHD_get_connection_values_n, (lull_MHD_Connection *, int kind, lull_http_pair, void *)) \
    X(lull_MHD_Response *, MHD_create_response_from_buffer, (size_t, void *, int mode)) \
    X(lull_MHD_Response *, MHD_create_response_from_callback, (uint64_t size, size_t block, lull_http_reader, void *, lull_http_free)) \
    X(int, MHD_add_response_header, (lull_MHD_Response *, const char *, const char *)) \
    X(int, MHD_queue_response, (lull_MHD_Connection *, unsigned int, lull_MHD_Response *)) \
    X(void, MHD_destroy_response, (lull_MHD_Response *)) \
    X(const char *, MHD_get_version, (void))
// In GnuTLS.
#define CRYPTO(X) \
    X(int, gnutls_hmac_fast, (int algorithm, const void *key, size_t, const void *bytes, size_t, void *digest)) \
    X(int, gnutls_memcmp, (const void *, const void *, size_t))

// What the library returns of a connection or a server: a union, of which these are read.
typedef union {
    int descriptor;
    unsigned int connections;
} info;

#define POINTER(type, name, parameters) static type(*name) parameters;
FUNCTIONS(POINTER)
CRYPTO(POINTER)

// MHD_FLAG and MHD_OPTION of libmicrohttpd.
enum { HAS_THREAD = 8, CAN_SUSPEND = 8192 | 1024, CHOOSES_POLLING = 65536 };
enum {
    END = 0, MEMORY = 1, CONNECTIONS = 2, TIMEOUT = 3, ENDED = 4, SOCKET = 12, DECODER = 16, CONNECTION = 27, IS_STRICT = 29
};
// MHD_CONNECTION_INFO_CONNECTION_FD and MHD_DAEMON_INFO_CURRENT_CONNECTIONS.
enum { DESCRIPTOR = 6, CURRENT_CONNECTIONS = 4 };
enum { COPIES = 2, HMAC_SHA256 = 6 };

static const char *failure;

static void load(void) {
    static const char *const names[] = {
        "libmicrohttpd.so.12", "libmicrohttpd.12.dylib", "/opt/homebrew/opt/libmicrohttpd/lib/libmicrohttpd.12.dylib",
        "/usr/local/opt/libmicrohttpd/lib/libmicrohttpd.12.dylib",
    };
    static const char *const crypto_names[] = {
        "libgnutls.so.30", "libgnutls.30.dylib", "/opt/homebrew/opt/gnutls/lib/libgnutls.30.dylib",
        "/usr/local/opt/gnutls/lib/libgnutls.30.dylib",
    };
    void *library = NULL, *crypto = NULL;
    for (size_t i = 0; !library && i < sizeof names / sizeof *names; i++) library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        failure = "libmicrohttpd is not installed: on Debian it is in the package libmicrohttpd12, in Homebrew in libmicrohttpd";
        return;
    }
    for (size_t i = 0; !crypto && i < sizeof crypto_names / sizeof *crypto_names; i++)
        crypto = dlopen(crypto_names[i], RTLD_NOW | RTLD_LOCAL);
    if (!crypto) {
        failure = "GnuTLS is not installed: on Debian it is in the package libgnutls30, in Homebrew in gnutls";
        return;
    }
// POSIX lets a pointer from dlsym be stored in a pointer to a function in this way.
#define LOAD(library, name) \
    *(void **)&name = dlsym(library, #name); \
    if (!name) failure = "the installed version of " #library " has no " #name;
#define LOAD_HTTP(type, name, parameters) LOAD(library, name)
#define LOAD_CRYPTO(type, name, parameters) LOAD(crypto, name)
    FUNCTIONS(LOAD_HTTP)
    CRYPTO(LOAD_CRYPTO)
}

const char *lull_http_load(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return failure;
}

const char *lull_http_version(void) { return MHD_get_version(); }

// A connection is told of with its descriptor, which the library knows until it has been closed.
static void connection_changed(void *context, lull_MHD_Connection *connection, void **socket, int change) {
    (void)socket;
    const lull_http_callbacks *callbacks = context;
    callbacks->connection(callbacks->context, lull_http_descriptor(connection), change);
}

// Paths and arguments stay as they were sent: decoded, a path could not hold a NUL byte, nor a part of it a slash.
static size_t keep(void *context, lull_MHD_Connection *connection, char *text) {
    (void)context, (void)connection;
    return strlen(text);
}

lull_MHD_Daemon *lull_http_start(
    int socket, unsigned int connections, unsigned int memory, unsigned int seconds, const lull_http_callbacks *callbacks) {
    return MHD_start_daemon(
        HAS_THREAD | CAN_SUSPEND | CHOOSES_POLLING, 0, NULL, NULL, callbacks->handle, callbacks->context,
        SOCKET, socket, CONNECTIONS, connections, MEMORY, (size_t)memory, TIMEOUT, seconds, IS_STRICT, 1, DECODER, keep, NULL,
        ENDED, callbacks->ended, callbacks->context, CONNECTION, connection_changed, (void *)callbacks, END);
}

void lull_http_quiesce(lull_MHD_Daemon *daemon) { MHD_quiesce_daemon(daemon); }
void lull_http_stop(lull_MHD_Daemon *daemon) { MHD_stop_daemon(daemon); }

unsigned int lull_http_connections(lull_MHD_Daemon *daemon) {
    const info *found = MHD_get_daemon_info(daemon, CURRENT_CONNECTIONS);
    return found ? found->connections : 0;
}

int lull_http_descriptor(lull_MHD_Connection *connection) {
    const info *found = MHD_get_connection_info(connection, DESCRIPTOR);
    return found ? found->descriptor : -1;
}

void lull_MHD_suspend_connection(lull_MHD_Connection *connection) { MHD_suspend_connection(connection); }
void lull_MHD_resume_connection(lull_MHD_Connection *connection) { MHD_resume_connection(connection); }
int lull_MHD_get_connection_values_n(lull_MHD_Connection *connection, int kind, lull_http_pair pair, void *context) {
    return MHD_get_connection_values_n(connection, kind, pair, context);
}
int lull_MHD_add_response_header(lull_MHD_Response *response, const char *name, const char *value) {
    return MHD_add_response_header(response, name, value);
}
int lull_MHD_queue_response(lull_MHD_Connection *connection, unsigned int status, lull_MHD_Response *response) {
    return MHD_queue_response(connection, status, response);
}
void lull_MHD_destroy_response(lull_MHD_Response *response) { MHD_destroy_response(response); }

lull_MHD_Response *lull_http_answer(const void *bytes, size_t size) {
    return MHD_create_response_from_buffer(size, (void *)bytes, COPIES);
}
lull_MHD_Response *lull_http_stream(lull_http_reader reader, void *context, lull_http_free end) {
    return MHD_create_response_from_callback(UINT64_MAX, 32 << 10, reader, context, end);
}

int lull_hmac_sha256(const void *key, size_t key_size, const void *bytes, size_t size, void *digest) {
    return gnutls_hmac_fast(HMAC_SHA256, key, key_size, bytes, size, digest);
}
int lull_is_same(const void *one, const void *other, size_t size) { return gnutls_memcmp(one, other, size) == 0; }
