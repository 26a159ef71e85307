#include "CLullRedis.h"

// The scripts, as they are in the folder beside this file.
#ifndef __has_embed
#error "a compiler with #embed is needed: Clang 19 or later, as in Swift 6.2"
#endif
#pragma clang diagnostic ignored "-Wc23-extensions"

static const struct {
    const char *name, *text;
} parts[] = {
    {"announce", (const char[]){
#embed "Scripts/announce.lua"
    , 0}},
    {"change", (const char[]){
#embed "Scripts/change.lua"
    , 0}},
    {"count", (const char[]){
#embed "Scripts/count.lua"
    , 0}},
    {"dead", (const char[]){
#embed "Scripts/dead.lua"
    , 0}},
    {"drop", (const char[]){
#embed "Scripts/drop.lua"
    , 0}},
    {"forget", (const char[]){
#embed "Scripts/forget.lua"
    , 0}},
    {"gate", (const char[]){
#embed "Scripts/gate.lua"
    , 0}},
    {"interruptions", (const char[]){
#embed "Scripts/interruptions.lua"
    , 0}},
    {"look", (const char[]){
#embed "Scripts/look.lua"
    , 0}},
    {"meta", (const char[]){
#embed "Scripts/meta.lua"
    , 0}},
    {"open", (const char[]){
#embed "Scripts/open.lua"
    , 0}},
    {"page", (const char[]){
#embed "Scripts/page.lua"
    , 0}},
    {"pause", (const char[]){
#embed "Scripts/pause.lua"
    , 0}},
    {"rows", (const char[]){
#embed "Scripts/rows.lua"
    , 0}},
    {"runs", (const char[]){
#embed "Scripts/runs.lua"
    , 0}},
    {"shard", (const char[]){
#embed "Scripts/shard.lua"
    , 0}},
    {"starts", (const char[]){
#embed "Scripts/starts.lua"
    , 0}},
    {"submit", (const char[]){
#embed "Scripts/submit.lua"
    , 0}},
    {"submits", (const char[]){
#embed "Scripts/submits.lua"
    , 0}},
    {"work", (const char[]){
#embed "Scripts/work.lua"
    , 0}},
    {"workers", (const char[]){
#embed "Scripts/workers.lua"
    , 0}},
};

const char *lull_script(const char *name) {
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (strcmp(parts[i].name, name) == 0) return parts[i].text;
    }
    return NULL;
}
