#include "CLullHTTP.h"

// The pages as scripts/serve-page has made them.
#ifndef __has_embed
#error "a compiler with #embed is needed: Clang 19 or later, as in Swift 6.2"
#endif
#pragma clang diagnostic ignored "-Wc23-extensions"

static const char page[] = {
#embed "Page/index.html"
    , 0};
static const char policy[] = {
#embed "Page/policy.txt"
    , 0};
static const char top_page[] = {
#embed "Page/top.html"
    , 0};
static const char top_policy[] = {
#embed "Page/top-policy.txt"
    , 0};

const char *lull_page(void) { return page; }
const char *lull_page_policy(void) { return policy; }
const char *lull_top_page(void) { return top_page; }
const char *lull_top_page_policy(void) { return top_policy; }
