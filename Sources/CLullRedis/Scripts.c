#include "CLullRedis.h"

// The scripts, as they are in the folder beside this file.
#ifndef __has_embed
#error "a compiler with #embed is needed: Clang 19 or later, as in Swift 6.2"
#endif
#pragma clang diagnostic ignored "-Wc23-extensions"

static const struct {
    const char *name, *text;
} parts[] = {
    {"append", (const char[]){
#embed "Scripts/append.lua"
    , 0}},
    {"inbox", (const char[]){
#embed "Scripts/inbox.lua"
    , 0}},
    {"load", (const char[]){
#embed "Scripts/load.lua"
    , 0}},
    {"page", (const char[]){
#embed "Scripts/page.lua"
    , 0}},
    {"shard", (const char[]){
#embed "Scripts/shard.lua"
    , 0}},
    {"store", (const char[]){
#embed "Scripts/store.lua"
    , 0}},
};

const char *lull_script(const char *name) {
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (strcmp(parts[i].name, name) == 0) return parts[i].text;
    }
    return NULL;
}
