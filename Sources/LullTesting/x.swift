public import Lull
