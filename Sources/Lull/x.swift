public import LullCore
