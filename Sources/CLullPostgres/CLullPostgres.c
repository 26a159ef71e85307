// libpq is found by the names under which systems have it.
#include "CLullPostgres.h"

#include <dlfcn.h>
#include <pthread.h>

// X(type, name, parameters, arguments) for each function.
#define FUNCTIONS(X) \
    X(lull_PGconn *, PQconnectStartParams, (const char *const *keywords, const char *const *values, int expand_dbname), (keywords, values, expand_dbname)) \
    X(int, PQconnectPoll, (lull_PGconn *conn), (conn)) \
    X(lull_PGconn *, PQconnectdb, (const char *conninfo), (conninfo)) \
    X(void, PQfinish, (lull_PGconn *conn), (conn)) \
    X(int, PQsocket, (const lull_PGconn *conn), (conn)) \
    X(int, PQstatus, (const lull_PGconn *conn), (conn)) \
    X(char *, PQerrorMessage, (const lull_PGconn *conn), (conn)) \
    X(int, PQsetnonblocking, (lull_PGconn *conn, int arg), (conn, arg)) \
    X(lull_PQnoticeReceiver, PQsetNoticeReceiver, (lull_PGconn *conn, lull_PQnoticeReceiver proc, void *arg), (conn, proc, arg)) \
    X(int, PQsendQueryParams, (lull_PGconn *conn, const char *command, int nParams, const unsigned int *paramTypes, const char *const *paramValues, const int *paramLengths, const int *paramFormats, int resultFormat), (conn, command, nParams, paramTypes, paramValues, paramLengths, paramFormats, resultFormat)) \
    X(int, PQsendPrepare, (lull_PGconn *conn, const char *stmtName, const char *query, int nParams, const unsigned int *paramTypes), (conn, stmtName, query, nParams, paramTypes)) \
    X(int, PQsendQueryPrepared, (lull_PGconn *conn, const char *stmtName, int nParams, const char *const *paramValues, const int *paramLengths, const int *paramFormats, int resultFormat), (conn, stmtName, nParams, paramValues, paramLengths, paramFormats, resultFormat)) \
    X(int, PQbackendPID, (const lull_PGconn *conn), (conn)) \
    X(int, PQtransactionStatus, (const lull_PGconn *conn), (conn)) \
    X(int, PQenterPipelineMode, (lull_PGconn *conn), (conn)) \
    X(int, PQpipelineSync, (lull_PGconn *conn), (conn)) \
    X(int, PQflush, (lull_PGconn *conn), (conn)) \
    X(int, PQconsumeInput, (lull_PGconn *conn), (conn)) \
    X(int, PQisBusy, (lull_PGconn *conn), (conn)) \
    X(lull_PGresult *, PQgetResult, (lull_PGconn *conn), (conn)) \
    X(lull_PGresult *, PQexec, (lull_PGconn *conn, const char *query), (conn, query)) \
    X(void, PQclear, (lull_PGresult *res), (res)) \
    X(int, PQresultStatus, (const lull_PGresult *res), (res)) \
    X(int, PQnfields, (const lull_PGresult *res), (res)) \
    X(int, PQntuples, (const lull_PGresult *res), (res)) \
    X(int, PQgetisnull, (const lull_PGresult *res, int row, int column), (res, row, column)) \
    X(int, PQgetlength, (const lull_PGresult *res, int row, int column), (res, row, column)) \
    X(char *, PQgetvalue, (const lull_PGresult *res, int row, int column), (res, row, column)) \
    X(char *, PQresultErrorField, (const lull_PGresult *res, int fieldcode), (res, fieldcode)) \
    X(lull_PGnotify *, PQnotifies, (lull_PGconn *conn), (conn)) \
    X(void, PQfreemem, (void *ptr), (ptr)) \
    X(lull_PQconninfoOption *, PQconninfoParse, (const char *conninfo, char **errmsg), (conninfo, errmsg)) \
    X(void, PQconninfoFree, (lull_PQconninfoOption *connOptions), (connOptions)) \
    X(int, PQlibVersion, (void), ())

#define POINTER(type, name, parameters, arguments) static type(*name) parameters;
FUNCTIONS(POINTER)

#define DEFINE(type, name, parameters, arguments) \
    type lull_##name parameters { return name arguments; }
FUNCTIONS(DEFINE)

static const char *failure;

static void load(void) {
    static const char *const names[] = {
        "libpq.so.5", "libpq.5.dylib", "/opt/homebrew/opt/libpq/lib/libpq.5.dylib", "/usr/local/opt/libpq/lib/libpq.5.dylib",
    };
    void *library = NULL;
    for (size_t i = 0; !library && i < sizeof names / sizeof *names; i++) library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        failure = "libpq is not installed: on Debian it is in the package libpq5, in Homebrew in libpq";
        return;
    }
// POSIX lets a pointer from dlsym be stored in a pointer to a function in this way.
#define LOAD(type, name, parameters, arguments) \
    *(void **)&name = dlsym(library, #name); \
    if (!name) failure = "libpq is too old: it has no " #name;
    FUNCTIONS(LOAD)
}

const char *lull_pq_load(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return failure;
}
