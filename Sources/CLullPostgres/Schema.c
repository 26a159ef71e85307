#include "CLullPostgres.h"

// The parts of the schema, as they are in the folder beside this file.
#ifndef __has_embed
#error "a compiler with #embed is needed: Clang 19 or later, as in Swift 6.2"
#endif
#pragma clang diagnostic ignored "-Wc23-extensions"

static const struct {
    const char *name, *text;
} parts[] = {
    {"inbox", (const char[]){
#embed "Schema/inbox.sql"
    , 0}},
    {"look", (const char[]){
#embed "Schema/look.sql"
    , 0}},
    {"namespaces", (const char[]){
#embed "Schema/namespaces.sql"
    , 0}},
    {"numbers", (const char[]){
#embed "Schema/numbers.sql"
    , 0}},
    {"rows", (const char[]){
#embed "Schema/rows.sql"
    , 0}},
    {"settings", (const char[]){
#embed "Schema/settings.sql"
    , 0}},
    {"tables", (const char[]){
#embed "Schema/tables.sql"
    , 0}},
    {"upkeep", (const char[]){
#embed "Schema/upkeep.sql"
    , 0}},
};

const char *lull_schema(const char *name) {
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (strcmp(parts[i].name, name) == 0) return parts[i].text;
    }
    return NULL;
}
