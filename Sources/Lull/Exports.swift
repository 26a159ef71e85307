// The types of the core that users of Lull name: its options, counters and errors, and not the engine.
@_exported public import struct LullCore.CoreDuration
@_exported public import struct LullCore.Counters
@_exported public import enum LullCore.DelayRule
@_exported public import enum LullCore.Edge
@_exported public import struct LullCore.Edges
@_exported public import enum LullCore.Fate
@_exported public import enum LullCore.Interrupting
@_exported public import struct LullCore.Policy
@_exported public import enum LullCore.PolicyError
@_exported public import struct LullCore.RateLimit
@_exported public import enum LullCore.Rejection
@_exported public import enum LullCore.WhileRunning
