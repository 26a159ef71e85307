// Whoever imports Lull names its options and counters without a second import.
@_exported public import LullCore
