// The store is of no use without the debouncers that submit to it.
@_exported public import LullDurable
