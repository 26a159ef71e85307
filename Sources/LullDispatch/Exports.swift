// The forms with a queue take the options of the others.
@_exported public import Lull
