// A durable debouncer takes the options of those in memory, and has their errors.
@_exported public import Lull
