#include "CLullRedis.h"
#include "Library.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

// The beginnings of the structures of hiredis 0.14 and 1.

struct context_0 {
    int err;
    char errstr[128];
    int fd;
};

struct context_1 {
    const void *funcs;
    int err;
    char errstr[128];
    int fd;
};

struct reply_0 {
    int type;
    long long integer;
    size_t len;
    char *str;
    size_t elements;
    lull_reply **element;
};

struct reply_1 {
    int type;
    long long integer;
    double dval;
    size_t len;
    char *str;
    char vtype[4];
    size_t elements;
    lull_reply **element;
};

// X(type, name, parameters) for each function of hiredis.
#define FUNCTIONS(X) \
    X(lull_redis *, redisConnectNonBlock, (const char *ip, int port)) \
    X(lull_redis *, redisConnectUnixNonBlock, (const char *path)) \
    X(void, redisFree, (lull_redis *c)) \
    X(int, redisEnableKeepAlive, (lull_redis *c)) \
    X(int, redisAppendFormattedCommand, (lull_redis *c, const char *cmd, size_t len)) \
    X(int, redisBufferWrite, (lull_redis *c, int *done)) \
    X(int, redisBufferRead, (lull_redis *c)) \
    X(int, redisGetReplyFromReader, (lull_redis *c, void **reply)) \
    X(void *, redisReaderCreate, (void)) \
    X(int, redisReaderFeed, (void *r, const char *buf, size_t len)) \
    X(int, redisReaderGetReply, (void *r, void **reply)) \
    X(void, redisReaderFree, (void *r)) \
    X(void, freeReplyObject, (void *reply))

#define POINTER(type, name, parameters) static type(*name) parameters;
FUNCTIONS(POINTER)

bool lull_redis_is_old;
static const char *failure;

// MARK: - Loading

/// Reads a reply that is known, so that a version with other structures is refused rather than misread.
static int understands(void) {
    static const char text[] = "*2\r\n$3\r\none\r\n:7\r\n";
    void *reader = redisReaderCreate(), *reply = NULL;
    if (!reader) return 0;
    int good = redisReaderFeed(reader, text, sizeof text - 1) == 0 && redisReaderGetReply(reader, &reply) == 0 && reply;
    if (good) {
        size_t length = 0;
        good = lull_reply_type(reply) == LULL_ARRAY && lull_reply_count(reply) == 2;
        good = good && lull_reply_type(lull_reply_element(reply, 0)) == LULL_STRING;
        good = good && !memcmp(lull_reply_text(lull_reply_element(reply, 0), &length), "one", 3) && length == 3;
        good = good && lull_reply_integer(lull_reply_element(reply, 1)) == 7;
        freeReplyObject(reply);
    }
    redisReaderFree(reader);
    if (!good) return 0;
    // A connection that cannot be made has an error, with a text.
    lull_redis *connection = redisConnectUnixNonBlock("/nonexistent/lull");
    good = connection && lull_redis_error(connection) && strlen(lull_redis_error(connection)) > 0;
    if (connection) redisFree(connection);
    return good;
}

const char *lull_redis_library;

void *lull_redis_find(const char *const *names, size_t count, const char **found) {
    void *library = NULL;
    for (size_t i = 0; !library && i < count; i++) {
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
        *found = names[i];
    }
    return library;
}

static void load(void) {
    static const char *const names[] = {
        "libhiredis.so.1.4.0", "libhiredis.so.1.3.0", "libhiredis.so.1.2.0", "libhiredis.so.1.1.0", "libhiredis.so.1.0.0", "libhiredis.so.0.14", "libhiredis.so",
        "libhiredis.dylib", "/opt/homebrew/opt/hiredis/lib/libhiredis.dylib", "/usr/local/opt/hiredis/lib/libhiredis.dylib",
    };
    void *library = lull_redis_find(names, sizeof names / sizeof *names, &lull_redis_library);
    if (!library) {
        failure = "hiredis is not installed: on Debian it is in the package libhiredis0.14 or libhiredis1.1.0, in Homebrew in hiredis";
        return;
    }
// POSIX lets a pointer from dlsym be stored in a pointer to a function in this way.
#define LOAD(type, name, parameters) \
    *(void **)&name = dlsym(library, #name); \
    if (!name) failure = "hiredis is too old: it has no " #name;
    FUNCTIONS(LOAD)
    if (failure) return;
    lull_redis_is_old = !dlsym(library, "redisSetPushCallback");
    if (!understands()) failure = "this version of hiredis is not one that Lull knows";
}

const char *lull_redis_load(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return failure;
}

const char *lull_redis_library_name(void) { return lull_redis_library; }

// MARK: - Connections

/// Keeps a server that goes away from ending the program. Apple's systems send SIGPIPE to the process, where blocking it in the thread
/// that writes is of no use, and hiredis does not ask for an error instead. (libpq does.)
static lull_redis *without_sigpipe(lull_redis *connection) {
#if defined(SO_NOSIGPIPE)
    int on = 1;
    if (connection && !lull_redis_error(connection)) {
        setsockopt(lull_redis_descriptor(connection), SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on);
    }
#endif
    return connection;
}

lull_redis *lull_redis_connect(const char *host, int port) {
    lull_redis *connection = redisConnectNonBlock(host, port);
    if (connection && !lull_redis_error(connection)) redisEnableKeepAlive(connection);
    return without_sigpipe(connection);
}

lull_redis *lull_redis_connect_unix(const char *path) { return without_sigpipe(redisConnectUnixNonBlock(path)); }
void lull_redis_free(lull_redis *connection) { redisFree(connection); }

const char *lull_redis_error(const lull_redis *connection) {
    const struct context_0 *old = (const void *)connection;
    const struct context_1 *new = (const void *)connection;
    if (lull_redis_is_old) return old->err ? old->errstr : NULL;
    return new->err ? new->errstr : NULL;
}

int lull_redis_descriptor(const lull_redis *connection) {
    const struct context_0 *old = (const void *)connection;
    const struct context_1 *new = (const void *)connection;
    return lull_redis_is_old ? old->fd : new->fd;
}

int lull_redis_connected(const lull_redis *connection) {
    int error = 0;
    socklen_t size = sizeof error;
    if (getsockopt(lull_redis_descriptor(connection), SOL_SOCKET, SO_ERROR, &error, &size) != 0) return errno;
    return error;
}

int lull_redis_append(lull_redis *connection, const char *bytes, size_t count) {
    return redisAppendFormattedCommand(connection, bytes, count);
}

int lull_redis_write(lull_redis *connection, int *is_done) { return redisBufferWrite(connection, is_done); }
int lull_redis_read(lull_redis *connection) { return redisBufferRead(connection); }

int lull_redis_reply(lull_redis *connection, lull_reply **reply) {
    void *found = NULL;
    int result = redisGetReplyFromReader(connection, &found);
    *reply = found;
    return result;
}

// MARK: - Replies

#define OLD ((const struct reply_0 *)(const void *)reply)
#define NEW ((const struct reply_1 *)(const void *)reply)

int lull_reply_type(const lull_reply *reply) { return OLD->type; }
long long lull_reply_integer(const lull_reply *reply) { return OLD->integer; }

const char *lull_reply_text(const lull_reply *reply, size_t *length) {
    *length = lull_redis_is_old ? OLD->len : NEW->len;
    return lull_redis_is_old ? OLD->str : NEW->str;
}

size_t lull_reply_count(const lull_reply *reply) { return lull_redis_is_old ? OLD->elements : NEW->elements; }

const lull_reply *lull_reply_element(const lull_reply *reply, size_t index) {
    return lull_redis_is_old ? OLD->element[index] : NEW->element[index];
}

void lull_reply_free(lull_reply *reply) { freeReplyObject(reply); }
