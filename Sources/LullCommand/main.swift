internal import CLullCommand

lull_end_on_quit()
var count = CommandLine.argc
var vector: UnsafeMutablePointer<Argument?>? = CommandLine.unsafeArgv
if count == 0 { vector = lull_first_arguments(&count) }
let arguments = (0..<Int(count)).compactMap { vector?[$0] }
exit(Tool.run(arguments))
