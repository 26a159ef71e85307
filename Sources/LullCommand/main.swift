internal import CLullSystem

let arguments = (0..<Int(CommandLine.argc)).compactMap { CommandLine.unsafeArgv[$0] }
exit(Tool.run(arguments))
