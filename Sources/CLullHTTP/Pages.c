#include "CLullHTTP.h"

// The files of the pages, as they are written: a change of one builds this file again.
#ifndef __has_embed
#error "a compiler with #embed is needed: Clang 19 or later, as in Swift 6.2"
#endif
#pragma clang diagnostic ignored "-Wc23-extensions"

static const lull_page_file shared[] = {
    {"base.css", (const char[]){
#embed "../../Playground/page/base.css"
    , 0}},
    {"frame.css", (const char[]){
#embed "../../Serve/page/frame.css"
    , 0}},
    {"theme.js", (const char[]){
#embed "../../Playground/page/theme.js"
    , 0}},
    {"marks.js", (const char[]){
#embed "../../Playground/page/marks.js"
    , 0}},
    {"durations.js", (const char[]){
#embed "../../Playground/page/durations.js"
    , 0}},
    {"text.js", (const char[]){
#embed "../../Serve/page/text.js"
    , 0}},
    {"names.js", (const char[]){
#embed "../../Serve/page/names.js"
    , 0}},
    {"door.js", (const char[]){
#embed "../../Serve/page/door.js"
    , 0}},
    {"stream.js", (const char[]){
#embed "../../Serve/page/stream.js"
    , 0}},
    {"live.js", (const char[]){
#embed "../../Serve/page/live.js"
    , 0}},
    {"clock.js", (const char[]){
#embed "../../Serve/page/clock.js"
    , 0}},
    {"episode.js", (const char[]){
#embed "../../Serve/page/episode.js"
    , 0}},
    {"drawing.js", (const char[]){
#embed "../../Serve/page/drawing.js"
    , 0}},
    {"lines.js", (const char[]){
#embed "../../Serve/page/lines.js"
    , 0}},
    {"figures.js", (const char[]){
#embed "../../Serve/page/figures.js"
    , 0}},
    {0},
};

static const lull_page_file serve[] = {
    {"", (const char[]){
#embed "../../Serve/page/index.html"
    , 0}},
    {"style.css", (const char[]){
#embed "../../Serve/page/style.css"
    , 0}},
    {"words.js", (const char[]){
#embed "../../Serve/page/words.js"
    , 0}},
    {"events.js", (const char[]){
#embed "../../Serve/page/events.js"
    , 0}},
    {"history.js", (const char[]){
#embed "../../Serve/page/history.js"
    , 0}},
    {"looks.js", (const char[]){
#embed "../../Serve/page/looks.js"
    , 0}},
    {"timeline.js", (const char[]){
#embed "../../Serve/page/timeline.js"
    , 0}},
    {"namespaces.js", (const char[]){
#embed "../../Serve/page/namespaces.js"
    , 0}},
    {"rates.js", (const char[]){
#embed "../../Serve/page/rates.js"
    , 0}},
    {"actions.js", (const char[]){
#embed "../../Serve/page/actions.js"
    , 0}},
    {"workers.js", (const char[]){
#embed "../../Serve/page/workers.js"
    , 0}},
    {"dead.js", (const char[]){
#embed "../../Serve/page/dead.js"
    , 0}},
    {"keys.js", (const char[]){
#embed "../../Serve/page/keys.js"
    , 0}},
    {"story.js", (const char[]){
#embed "../../Serve/page/story.js"
    , 0}},
    {"main.js", (const char[]){
#embed "../../Serve/page/main.js"
    , 0}},
    {0},
};

static const lull_page_file top[] = {
    {"", (const char[]){
#embed "../../Serve/top/index.html"
    , 0}},
    {"style.css", (const char[]){
#embed "../../Serve/top/style.css"
    , 0}},
    {"debouncer.js", (const char[]){
#embed "../../Serve/top/debouncer.js"
    , 0}},
    {"program.js", (const char[]){
#embed "../../Serve/top/program.js"
    , 0}},
    {"timeline.js", (const char[]){
#embed "../../Serve/top/timeline.js"
    , 0}},
    {"table.js", (const char[]){
#embed "../../Serve/top/table.js"
    , 0}},
    {"main.js", (const char[]){
#embed "../../Serve/top/main.js"
    , 0}},
    {0},
};

const lull_page_file *lull_shared_files(void) { return shared; }
const lull_page_file *lull_serve_files(void) { return serve; }
const lull_page_file *lull_top_files(void) { return top; }
