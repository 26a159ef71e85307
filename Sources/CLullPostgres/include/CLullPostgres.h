// libpq, PostgreSQL's C interface, loaded when it is first needed: a program that uses no such database starts without it and its
// two dozen libraries. Only what Lull calls is declared here, as in libpq-fe.h, with a prefix: a program may use libpq itself.
#ifndef CLULLPOSTGRES_H
#define CLULLPOSTGRES_H

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef struct pg_conn lull_PGconn;
typedef struct pg_result lull_PGresult;

/// Returns a part of the schema: the text of the file `name`.sql in `Schema`. Returns NULL if there is none.
const char *lull_schema(const char *name);

// CONNECTION_OK, PGRES_POLLING_…, PGRES_… and PQTRANS_INERROR of libpq.
static const int LULL_CONNECTION_OK = 0;
static const int LULL_POLLING_READING = 1, LULL_POLLING_WRITING = 2, LULL_POLLING_OK = 3;
static const int LULL_COMMAND_OK = 1, LULL_TUPLES_OK = 2, LULL_PIPELINE_SYNC = 10;
static const int LULL_TRANSACTION_FAILED = 3;

typedef struct {
    char *relname;
    int be_pid;
    char *extra;
} lull_PGnotify;

typedef struct {
    char *keyword, *envvar, *compiled, *val, *label, *dispchar;
    int dispsize;
} lull_PQconninfoOption;

typedef void (*lull_PQnoticeReceiver)(void *, const lull_PGresult *);

/// Loads libpq. Returns NULL, or why that failed.
const char *lull_pq_load(void);

// Each calls the function of libpq with the same name. libpq must have been loaded.
lull_PGconn *lull_PQconnectStartParams(const char *const *keywords, const char *const *values, int expand_dbname);
int lull_PQconnectPoll(lull_PGconn *conn);
lull_PGconn *lull_PQconnectdb(const char *conninfo);
void lull_PQfinish(lull_PGconn *conn);
int lull_PQsocket(const lull_PGconn *conn);
int lull_PQstatus(const lull_PGconn *conn);
char *lull_PQerrorMessage(const lull_PGconn *conn);
int lull_PQsetnonblocking(lull_PGconn *conn, int arg);
lull_PQnoticeReceiver lull_PQsetNoticeReceiver(lull_PGconn *conn, lull_PQnoticeReceiver proc, void *arg);
int lull_PQsendQueryParams(
    lull_PGconn *conn, const char *command, int nParams, const unsigned int *paramTypes, const char *const *paramValues,
    const int *paramLengths, const int *paramFormats, int resultFormat);
int lull_PQsendPrepare(
    lull_PGconn *conn, const char *stmtName, const char *query, int nParams, const unsigned int *paramTypes);
int lull_PQsendQueryPrepared(
    lull_PGconn *conn, const char *stmtName, int nParams, const char *const *paramValues, const int *paramLengths,
    const int *paramFormats, int resultFormat);
int lull_PQbackendPID(const lull_PGconn *conn);
int lull_PQtransactionStatus(const lull_PGconn *conn);
int lull_PQenterPipelineMode(lull_PGconn *conn);
int lull_PQpipelineSync(lull_PGconn *conn);
int lull_PQflush(lull_PGconn *conn);
int lull_PQconsumeInput(lull_PGconn *conn);
int lull_PQisBusy(lull_PGconn *conn);
lull_PGresult *lull_PQgetResult(lull_PGconn *conn);
lull_PGresult *lull_PQexec(lull_PGconn *conn, const char *query);
void lull_PQclear(lull_PGresult *res);
int lull_PQresultStatus(const lull_PGresult *res);
int lull_PQnfields(const lull_PGresult *res);
int lull_PQntuples(const lull_PGresult *res);
int lull_PQgetisnull(const lull_PGresult *res, int row, int column);
int lull_PQgetlength(const lull_PGresult *res, int row, int column);
char *lull_PQgetvalue(const lull_PGresult *res, int row, int column);
char *lull_PQresultErrorField(const lull_PGresult *res, int fieldcode);
lull_PGnotify *lull_PQnotifies(lull_PGconn *conn);
void lull_PQfreemem(void *ptr);
lull_PQconninfoOption *lull_PQconninfoParse(const char *conninfo, char **errmsg);
void lull_PQconninfoFree(lull_PQconninfoOption *connOptions);
int lull_PQlibVersion(void);

#endif
