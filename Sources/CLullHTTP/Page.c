#include "CLullHTTP.h"

// The page as scripts/serve-page has made it.
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

const char *lull_page(void) { return page; }
const char *lull_page_policy(void) { return policy; }
