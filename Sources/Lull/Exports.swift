// What users of Lull name of the core: its options, counters and errors. The engine is for this package alone.
@_exported public import LullCore
