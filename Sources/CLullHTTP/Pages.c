#include "CLullHTTP.h"

// The files of the pages, as they are written: a change of one builds this file again.
#ifndef __has_embed
#error "a compiler with #embed is needed: Clang 19 or later, as in Swift 6.2"
#endif
#pragma clang diagnostic ignored "-Wc23-extensions"

static const lull_page_file shared[] = {
    {"base.css", (const char[]){
#embed "../../Web/Shared/base.css"
    , 0}},
    {"frame.css", (const char[]){
#embed "../../Web/Shared/frame.css"
    , 0}},
    {"theme.js", (const char[]){
#embed "../../Web/Shared/theme.js"
    , 0}},
    {"marks.js", (const char[]){
#embed "../../Web/Shared/marks.js"
    , 0}},
    {"pen.js", (const char[]){
#embed "../../Web/Shared/pen.js"
    , 0}},
    {"durations.js", (const char[]){
#embed "../../Web/Shared/durations.js"
    , 0}},
    {"text.js", (const char[]){
#embed "../../Web/Shared/text.js"
    , 0}},
    {"names.js", (const char[]){
#embed "../../Web/Shared/names.js"
    , 0}},
    {"door.js", (const char[]){
#embed "../../Web/Shared/door.js"
    , 0}},
    {"stream.js", (const char[]){
#embed "../../Web/Shared/stream.js"
    , 0}},
    {"live.js", (const char[]){
#embed "../../Web/Shared/live.js"
    , 0}},
    {"otherclock.js", (const char[]){
#embed "../../Web/Shared/otherclock.js"
    , 0}},
    {"episode.js", (const char[]){
#embed "../../Web/Shared/episode.js"
    , 0}},
    {"drawing.js", (const char[]){
#embed "../../Web/Shared/drawing.js"
    , 0}},
    {"lines.js", (const char[]){
#embed "../../Web/Shared/lines.js"
    , 0}},
    {"figures.js", (const char[]){
#embed "../../Web/Shared/figures.js"
    , 0}},
    {0},
};

static const lull_page_file serve[] = {
    {"", (const char[]){
#embed "../../Web/Serve/index.html"
    , 0}},
    {"style.css", (const char[]){
#embed "../../Web/Serve/style.css"
    , 0}},
    {"words.js", (const char[]){
#embed "../../Web/Serve/words.js"
    , 0}},
    {"events.js", (const char[]){
#embed "../../Web/Serve/events.js"
    , 0}},
    {"history.js", (const char[]){
#embed "../../Web/Serve/history.js"
    , 0}},
    {"looks.js", (const char[]){
#embed "../../Web/Serve/looks.js"
    , 0}},
    {"keylines.js", (const char[]){
#embed "../../Web/Serve/keylines.js"
    , 0}},
    {"namespaces.js", (const char[]){
#embed "../../Web/Serve/namespaces.js"
    , 0}},
    {"rates.js", (const char[]){
#embed "../../Web/Serve/rates.js"
    , 0}},
    {"actions.js", (const char[]){
#embed "../../Web/Serve/actions.js"
    , 0}},
    {"workers.js", (const char[]){
#embed "../../Web/Serve/workers.js"
    , 0}},
    {"dead.js", (const char[]){
#embed "../../Web/Serve/dead.js"
    , 0}},
    {"keys.js", (const char[]){
#embed "../../Web/Serve/keys.js"
    , 0}},
    {"keystory.js", (const char[]){
#embed "../../Web/Serve/keystory.js"
    , 0}},
    {"main.js", (const char[]){
#embed "../../Web/Serve/main.js"
    , 0}},
    {0},
};

static const lull_page_file top[] = {
    {"", (const char[]){
#embed "../../Web/Top/index.html"
    , 0}},
    {"style.css", (const char[]){
#embed "../../Web/Top/style.css"
    , 0}},
    {"debouncer.js", (const char[]){
#embed "../../Web/Top/debouncer.js"
    , 0}},
    {"program.js", (const char[]){
#embed "../../Web/Top/program.js"
    , 0}},
    {"programlines.js", (const char[]){
#embed "../../Web/Top/programlines.js"
    , 0}},
    {"table.js", (const char[]){
#embed "../../Web/Top/table.js"
    , 0}},
    {"main.js", (const char[]){
#embed "../../Web/Top/main.js"
    , 0}},
    {0},
};

const lull_page_file *lull_shared_files(void) { return shared; }
const lull_page_file *lull_serve_files(void) { return serve; }
const lull_page_file *lull_top_files(void) { return top; }
