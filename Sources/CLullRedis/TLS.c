// TLS for connections of hiredis.
//
// hiredis verifies that a certificate comes from a known authority, and not whose it is. So the session is made here, with OpenSSL as
// hiredis brings it, and handed over.
#include <dlfcn.h>
#include <pthread.h>
#include <sys/stat.h>

#include "CLullRedis.h"
#include "Library.h"

#define FUNCTIONS(F) \
    F(int, redisInitOpenSSL, (void)) \
    F(int, redisInitiateSSL, (lull_redis *, void *)) \
    F(const void *, TLS_client_method, (void)) \
    F(void *, SSL_CTX_new, (const void *)) \
    F(void, SSL_CTX_free, (void *)) \
    F(void, SSL_CTX_set_verify, (void *, int, void *)) \
    F(int, SSL_CTX_set_default_verify_paths, (void *)) \
    F(int, SSL_CTX_load_verify_locations, (void *, const char *, const char *)) \
    F(void *, SSL_new, (void *)) \
    F(void, SSL_free, (void *)) \
    F(long, SSL_ctrl, (void *, int, long, void *)) \
    F(int, SSL_set1_host, (void *, const char *)) \
    F(void *, SSL_get0_param, (void *)) \
    F(int, X509_VERIFY_PARAM_set1_ip_asc, (void *, const char *))

#define DECLARE(type, name, parameters) static type(*name) parameters;
FUNCTIONS(DECLARE)

static const char *failure;

static void load(void) {
    static const char *const names[] = {
        "libhiredis_ssl.so.1.4.0", "libhiredis_ssl.so.1.3.0", "libhiredis_ssl.so.1.2.0", "libhiredis_ssl.so.1.1.0",
        "libhiredis_ssl.so.1.0.0", "libhiredis_ssl.so", "libhiredis_ssl.dylib", "/opt/homebrew/opt/hiredis/lib/libhiredis_ssl.dylib",
        "/usr/local/opt/hiredis/lib/libhiredis_ssl.dylib",
    };
    if ((failure = lull_redis_load())) return;
    failure = "the installed hiredis has no TLS: version 1 has it, with the library libhiredis_ssl";
    if (lull_redis_is_old) return;
    // The library for TLS looks for hiredis among what all libraries can see.
    dlopen(lull_redis_library, RTLD_NOW | RTLD_GLOBAL);
    const char *name;
    void *library = lull_redis_find(names, sizeof names / sizeof *names, &name);
    if (!library) return;
    failure = NULL;
// The functions of OpenSSL are found in the libraries that this one has brought.
#define LOAD(type, name, parameters) \
    *(void **)&name = dlsym(library, #name); \
    if (!name) failure = "the library for TLS of the installed hiredis has no " #name;
    FUNCTIONS(LOAD)
    if (!failure) redisInitOpenSSL();
}

const char *lull_redis_load_tls(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return failure;
}

/// Returns a session that accepts only a certificate of this host; NULL, and why, if there is none.
static void *session(const char *host, const char *authorities, const char **why) {
    enum { VERIFY_PEER = 1, CTRL_SET_TLSEXT_HOSTNAME = 55, NAMETYPE_HOST_NAME = 0 };
    *why = "TLS cannot be set up";
    void *context = SSL_CTX_new(TLS_client_method());
    if (!context) return NULL;
    SSL_CTX_set_verify(context, VERIFY_PEER, NULL);
    int has_authorities;
    if (authorities) {
        struct stat status;
        bool is_folder = stat(authorities, &status) == 0 && S_ISDIR(status.st_mode);
        has_authorities = SSL_CTX_load_verify_locations(context, is_folder ? NULL : authorities, is_folder ? authorities : NULL);
        *why = "the certificates in cacert cannot be read";
    } else {
        has_authorities = SSL_CTX_set_default_verify_paths(context);
    }
    void *session = has_authorities == 1 ? SSL_new(context) : NULL;
    // A session keeps what it needs of its context.
    SSL_CTX_free(context);
    if (!session) return NULL;
    bool is_checked = X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session), host) == 1;
    if (!is_checked) {
        is_checked = SSL_set1_host(session, host) == 1;
        SSL_ctrl(session, CTRL_SET_TLSEXT_HOSTNAME, NAMETYPE_HOST_NAME, (void *)host);
    }
    if (is_checked) return session;
    SSL_free(session);
    return NULL;
}

const char *lull_redis_begin_tls(lull_redis *connection, const char *host, const char *authorities) {
    const char *why;
    void *own = session(host, authorities, &why);
    if (!own) return why;
    if (redisInitiateSSL(connection, own) == 0) return NULL;
    SSL_free(own);
    return lull_redis_error(connection);
}
