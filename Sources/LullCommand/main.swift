internal import CLullCommand

var count: Int32 = 0
var vector = lull_arguments(&count)
if vector == nil { (vector, count) = (CommandLine.unsafeArgv, CommandLine.argc) }
let arguments = (0..<Int(count)).compactMap { vector?[$0] }
exit(LullProgram.run(arguments))
