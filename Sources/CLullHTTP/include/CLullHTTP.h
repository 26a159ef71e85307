// libmicrohttpd, an HTTP server, and GnuTLS, which it brings: both are loaded when they are first needed, so that only `lull serve` asks
// for them. Only what Lull calls is declared here, as in microhttpd.h and gnutls/crypto.h, with a prefix.
#ifndef CLULLHTTP_H
#define CLULLHTTP_H

#include <stddef.h>
#include <stdint.h>

typedef struct MHD_Daemon lull_MHD_Daemon;
typedef struct MHD_Connection lull_MHD_Connection;
typedef struct MHD_Response lull_MHD_Response;

// MHD_YES, MHD_…_KIND and MHD_CONTENT_READER_END_OF_STREAM of libmicrohttpd.
static const int LULL_MHD_NO = 0, LULL_MHD_YES = 1;
static const int LULL_MHD_HEADERS = 1, LULL_MHD_ARGUMENTS = 8;
static const intptr_t LULL_MHD_END_OF_STREAM = -1;

/// Handles a part of a request: see MHD_AccessHandlerCallback. `request` is what the handler has stored there.
typedef int (*lull_http_handler)(
    void *context, lull_MHD_Connection *connection, const char *path, const char *method, const char *version, const char *body,
    size_t *size, void **request);
/// The request has ended, however that was.
typedef void (*lull_http_ended)(void *context, lull_MHD_Connection *connection, void **request, int reason);
/// A connection with this descriptor has begun (`is_closed` is 0) or is about to be closed.
typedef void (*lull_http_connection)(void *context, int descriptor, int is_closed);
/// A header, or an argument of the query.
typedef int (*lull_http_pair)(
    void *context, int kind, const char *name, size_t name_size, const char *value, size_t value_size);
/// Writes the next bytes of an answer: see MHD_ContentReaderCallback.
typedef intptr_t (*lull_http_reader)(void *context, uint64_t position, char *bytes, size_t size);
typedef void (*lull_http_free)(void *context);

typedef struct {
    lull_http_handler handle;
    lull_http_ended ended;
    lull_http_connection connection;
    void *context;
} lull_http_callbacks;

/// Loads the libraries. Returns NULL, or why that failed.
const char *lull_http_load(void);
/// The version of libmicrohttpd.
const char *lull_http_version(void);

/// Starts a server with a thread of its own on a socket that listens. It has at most `connections` connections, and closes each that
/// was idle for `seconds`. `callbacks` must live as long as the server. Returns NULL if that fails.
lull_MHD_Daemon *lull_http_start(
    int socket, unsigned int connections, unsigned int memory, unsigned int seconds, const lull_http_callbacks *callbacks);
/// Accepts no more connections.
void lull_http_quiesce(lull_MHD_Daemon *daemon);
/// Ends the server. No connection may be suspended.
void lull_http_stop(lull_MHD_Daemon *daemon);
unsigned int lull_http_connections(lull_MHD_Daemon *daemon);
int lull_http_descriptor(lull_MHD_Connection *connection);

// Each calls the function of libmicrohttpd with the same name.
void lull_MHD_suspend_connection(lull_MHD_Connection *connection);
void lull_MHD_resume_connection(lull_MHD_Connection *connection);
int lull_MHD_get_connection_values_n(lull_MHD_Connection *connection, int kind, lull_http_pair pair, void *context);
int lull_MHD_add_response_header(lull_MHD_Response *response, const char *name, const char *value);
int lull_MHD_queue_response(lull_MHD_Connection *connection, unsigned int status, lull_MHD_Response *response);
void lull_MHD_destroy_response(lull_MHD_Response *response);

/// Makes an answer of a copy of some bytes.
lull_MHD_Response *lull_http_answer(const void *bytes, size_t size);
/// Makes an answer of unknown size. `end` is called when it is no longer needed.
lull_MHD_Response *lull_http_stream(lull_http_reader reader, void *context, lull_http_free end);

/// Writes the HMAC-SHA-256 of some bytes, 32 bytes, to `digest`. Returns 0, or the code of an error.
int lull_hmac_sha256(const void *key, size_t key_size, const void *bytes, size_t size, void *digest);
/// Returns whether `size` bytes are the same, in a time that does not depend on them.
int lull_is_same(const void *one, const void *other, size_t size);

/// Returns whether an address is one that only this machine reaches; -1 and why not if there is none.
int lull_http_is_local(const char *host, char *why, size_t size);
/// Returns a socket that listens at an address, or -1 and why not: if `is_local`, also if other machines reach the address.
int lull_http_listen(const char *host, const char *port, int is_local, char *why, size_t size);
/// Returns the port at which a socket listens.
int lull_http_port(int descriptor);
/// Returns a socket that listens at a path, or -1 and why not. It takes the place of one that an ended program of the same user has
/// left there, and of nothing else.
int lull_http_listen_at(const char *path, char *why, size_t size);
/// Removes the socket at a path, unless it is another one than the device and the file tell of by now.
void lull_http_remove(const char *path, uint64_t device, uint64_t file);
void lull_http_close(int descriptor);
/// Tells which file is at a path; 0 and 0 if there is none.
void lull_http_identify(const char *path, uint64_t *device, uint64_t *file);
/// Ends a connection, so that the server sees it closed.
void lull_http_shut(int descriptor);
/// Returns the user at the other end of a socket in the file system; -1 for any other.
int64_t lull_http_user(int descriptor);
/// Writes the name of a user, or its number.
void lull_http_user_name(int64_t user, char *name, size_t size);

/// A file of a page. The page itself has an empty name; what comes after the last file has none.
typedef struct {
    const char *name;
    const char *text;
} lull_page_file;

/// The files that the pages of `lull serve` and `lull top` have in common, and those of each.
const lull_page_file *lull_shared_files(void);
const lull_page_file *lull_serve_files(void);
const lull_page_file *lull_top_files(void);

#endif
