// hiredis, the C client of Redis and Valkey, loaded when it is first needed: a program that uses no such server starts without it.
// Versions 0.14 and 1 lay out their structures differently; the functions here know both.
#ifndef CLULLREDIS_H
#define CLULLREDIS_H

#include <stddef.h>
#include <string.h>

typedef struct lull_redis lull_redis;
typedef struct lull_reply lull_reply;

/// Returns the text of a script, the file `name`.lua in `Scripts`. Returns NULL if there is none.
const char *lull_script(const char *name);

/// Loads hiredis. Returns NULL, or why that failed.
const char *lull_redis_load(void);

/// Returns the name of the file from which hiredis has been loaded.
const char *lull_redis_library_name(void);

/// Loads what hiredis needs for TLS. Returns NULL, or why that failed.
const char *lull_redis_load_tls(void);

// A connection that never blocks. hiredis must have been loaded.

/// Begins to connect. Returns NULL if there is no memory; else look at lull_redis_error.
lull_redis *lull_redis_connect(const char *host, int port);
lull_redis *lull_redis_connect_unix(const char *path);
void lull_redis_free(lull_redis *connection);

/// Begins TLS on a connection that has been made. The server's certificate has to be the host's, and to come from one of the
/// `authorities`, a file or a folder, or from one of the system's if it is NULL. Returns NULL, or why that failed.
const char *lull_redis_begin_tls(lull_redis *connection, const char *host, const char *authorities);

/// Returns the error of a connection, or NULL.
const char *lull_redis_error(const lull_redis *connection);
int lull_redis_descriptor(const lull_redis *connection);
/// Returns 0 if the connection has been made, or the error number.
int lull_redis_connected(const lull_redis *connection);

/// Adds bytes of the protocol to what is to be sent. Returns 0 unless there is no memory.
int lull_redis_append(lull_redis *connection, const char *bytes, size_t count);
/// Sends what the system takes. Returns 0 unless the connection is broken.
int lull_redis_write(lull_redis *connection, int *is_done);
/// Reads what has arrived. Returns 0 unless the connection is broken.
int lull_redis_read(lull_redis *connection);
/// Takes the next reply that has arrived, or NULL. Returns 0 unless the connection is broken.
int lull_redis_reply(lull_redis *connection, lull_reply **reply);

// The parts of a reply.

enum lull_reply_type { LULL_STRING = 1, LULL_ARRAY = 2, LULL_INTEGER = 3, LULL_NIL = 4, LULL_STATUS = 5, LULL_ERROR = 6 };

int lull_reply_type(const lull_reply *reply);
long long lull_reply_integer(const lull_reply *reply);
const char *lull_reply_text(const lull_reply *reply, size_t *length);
size_t lull_reply_count(const lull_reply *reply);
const lull_reply *lull_reply_element(const lull_reply *reply, size_t index);
void lull_reply_free(lull_reply *reply);

#endif
