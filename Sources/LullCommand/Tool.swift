internal import CLullCommand

/// The program, from its arguments to its exit status.
enum Tool {
    /// Runs the program and returns its exit status.
    static func run(_ arguments: [Argument]) -> Int32 {
        reserveStandardDescriptors()
        // A write to a closed pipe is then an error like any other.
        lull_ignore(SIGPIPE)
        do {
            return try dispatch(arguments)
        } catch {
            return end(with: error)
        }
    }

    private static func dispatch(_ arguments: [Argument]) throws(Failure) -> Int32 {
        guard arguments.count > 1 else { return explainUsage("no command was given") }
        let name = String(cString: arguments[1])
        let rest = arguments.dropFirst(2).map { String(cString: $0) }
        switch name {
        case "--help", "-h": return try show(Help.overview)
        case "--version", "-V": return try show("lull \(Help.version)\n")
        case "help": return try show(Help.make(rest))
        case "completions": return try show(Completions.make(rest))
        case "man": return try show(Manual.make(rest))
        default: break
        }
        guard let subcommand = Subcommand(rawValue: name) else { throw .unknown(name) }
        let invocation = try Invocation(subcommand, Array(arguments.dropFirst()))
        if invocation.asksForHelp { return try show(Help.page(for: subcommand)) }
        let settings = invocation.settings
        switch subcommand {
        case .filter:
            try invocation.operands.checkEmpty(for: .filter)
            if settings.store != nil {
                var session = try DurableSession(settings, .filter) { RecordWriter($0) }
                return session.run()
            }
            try settings.checkVolatile(.filter)
            let setup = try settings.setup(for: .filter)
            var session = try Session(settings, setup, RecordWriter(settings))
            return session.run()
        case .run:
            guard !invocation.operands.isEmpty else { throw .usage("COMMAND is missing", .run) }
            if settings.store != nil {
                let commands = try CommandRunner(invocation.operands, settings)
                var session = try DurableSession(settings, .run) { _ in commands }
                return session.run()
            }
            try settings.checkVolatile(.run)
            let setup = try settings.setup(for: .run)
            var session = try Session(settings, setup, CommandRunner(invocation.operands, settings))
            return session.run()
        case .simulate: return try Simulation.run(invocation.trace(), settings, settings.setup(for: .simulate))
        case .tune: return try Tuning.run(invocation.trace(), settings)
        case .submit: return try SubmitCommand.run(invocation.operands, settings)
        case .work:
            guard !invocation.operands.isEmpty else { throw .usage("COMMAND is missing", .work) }
            let commands = try CommandRunner(invocation.operands, settings)
            var session = try DurableSession(settings, .work) { _ in commands }
            return session.run()
        case .list: return try ListCommand.run(invocation.operands, settings)
        case .flush, .cancel: return try KeysCommand.run(subcommand, invocation.operands, settings)
        case .status: return try StatusCommand.run(invocation.operands, settings)
        case .dead: return try DeadCommand.run(invocation.operands, settings)
        case .compact: return try CompactCommand.run(invocation.operands, settings)
        }
    }

    /// Opens those standard descriptors that are closed, so that no pipe of the program takes their numbers. Using them fails.
    private static func reserveStandardDescriptors() {
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where lull_is_open(descriptor) == 0 {
            _ = lull_open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }

    private static func show(_ page: String) throws(Failure) -> Int32 {
        try OutputBuffer.print(page)
        return ExitStatus.success
    }

    private static func explainUsage(_ message: String) -> Int32 {
        var log = OutputBuffer(STDERR_FILENO)
        log.report(message)
        log.bytes.append(string: Help.overview)
        // A failure to write a message cannot be reported.
        _ = try? log.drain()
        return ExitStatus.wrongUsage
    }

    private static func end(with failure: Failure) -> Int32 {
        var log = OutputBuffer(STDERR_FILENO)
        log.report(failure.message)
        _ = try? log.drain()
        return failure.status
    }
}
