// The types of other modules in the API of LullDurable: the options of a debouncer, and its errors.
@_exported public import enum Lull.Combining
@_exported public import enum LullCore.Combination
@_exported public import struct LullCore.CoreDuration
@_exported public import enum LullCore.DelayRule
@_exported public import enum LullCore.Edge
@_exported public import struct LullCore.Edges
@_exported public import struct LullCore.Policy
@_exported public import enum LullCore.PolicyError
@_exported public import struct LullCore.RateLimit
