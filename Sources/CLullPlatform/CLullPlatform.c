// The package manager wants a source file; all there is stands in the header, to be inlined.
#include "CLullPlatform.h"
