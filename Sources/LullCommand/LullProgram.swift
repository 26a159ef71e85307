internal import CLullCommand
internal import LullDurable

/// The program, from its arguments to its exit status.
enum LullProgram {
    static func run(_ arguments: [Argument]) -> Int32 {
        reserveStandardDescriptors()
        // A write to a closed pipe is then an error like any other.
        lull_ignore(SIGPIPE)
        do {
            return try dispatch(arguments)
        } catch {
            OutputBuffer.report([error.message])
            return error.status
        }
    }

    private static func dispatch(_ arguments: [Argument]) throws(Failure) -> Int32 {
        guard arguments.count > 1 else { return explainUsage("no command was given") }
        let name = String(cString: arguments[1])
        let rest = arguments.dropFirst(2).map { String(cString: $0) }
        let asksForHelp = ["--help", "-h"].contains(rest.first)
        switch name {
        case "--help", "-h", "help": return try show(Help.make(rest))
        case "--version", "-V": return try show("lull \(Help.version)\n")
        case _ where asksForHelp && ["completions", "man", "version"].contains(name):
            return try show(Help.make([name] + rest.dropFirst()))
        case "completions": return try show(Completions.make(rest))
        case "man": return try show(Manual.make(rest))
        case "version": return try show(Versions.make(rest))
        default: break
        }
        guard let subcommand = Subcommand(rawValue: name) else { throw .unknown(name) }
        let invocation = try Invocation(subcommand, Array(arguments.dropFirst()))
        if invocation.options.asksForHelp {
            var words = rest
            return try show(Help.page(named: name).text(Terminal.Colour.take(from: &words).style))
        }
        let options = invocation.options
        if !subcommand.takesOperands { try invocation.operands.checkEmpty(for: subcommand) }
        switch subcommand {
        case .filter:
            return try runSession(of: .filter, options) { () throws(Failure) in RecordWriter(options) }
        case .run, .work:
            guard !invocation.operands.isEmpty else { throw .usage("COMMAND is missing", subcommand) }
            try ShellText.check(invocation.operands.map { Invocation.bytes($0) }, subcommand)
            try options.checkStatuses(for: subcommand)
            return try runSession(of: subcommand, options) { () throws(Failure) in
                try CommandRunner(invocation.operands, options)
            }
        case .simulate: return try Simulation.run(invocation.trace(), options, options.setup(for: .simulate))
        case .tune: return try Tuning.run(invocation.trace(), options)
        case .submit: return try SubmitCommand.run(invocation.operands, options)
        case .list: return try ListCommand.run(invocation.operands, options)
        case .touch, .flush, .cancel: return try KeysCommand.run(subcommand, invocation.operands, options)
        case .status: return try StatusCommand.run(options)
        case .dead: return try DeadCommand.run(invocation.operands, options)
        case .workers:
            let (store, namespace) = (try options.openStore(for: .workers, isReadOnly: true), options.namespace)
            try DurableWorker.print(store.ask(for: .workers) { try await $0.workers(in: namespace) }, options)
            return ExitStatus.success
        case .pause, .resume: return OutputBuffer.printDone(try PauseCommand.run(subcommand, options))
        case .forget: return OutputBuffer.printDone(try ForgetCommand.run(options))
        case .compact: return OutputBuffer.printDone(try CompactCommand.run(options))
        case .serve: return try ServeCommand.run(options)
        case .top: return try TopCommand.run(invocation.operands, options)
        case .schema where !options.applies: return try show(SchemaCommand.run(options))
        case .schema: return OutputBuffer.printDone(try SchemaCommand.run(options))
        case .adopt: return OutputBuffer.printDone(try AdoptCommand.run(options))
        }
    }

    /// Runs `lull filter`, `run` or `work`: with a store, or with pending values in memory.
    ///
    /// - Returns: The exit status.
    private static func runSession<Handler: ExecutionHandler>(
        of subcommand: Subcommand, _ options: CommandOptions, _ makeHandler: () throws(Failure) -> Handler
    ) throws(Failure) -> Int32 {
        if options.store != nil || subcommand == .work {
            // The handler comes first: its supervisor must not share an open store.
            let handler = try makeHandler()
            var session = try DurableSession(options, subcommand, handler)
            return session.run()
        }
        let setup = try options.setup(for: subcommand)
        var session = try Session(options, setup, makeHandler())
        return session.run()
    }

    /// Opens those standard descriptors that are closed, so that no pipe of the program takes their numbers. Using them
    /// fails.
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
        log.bytes.append(string: HelpPage.text(of: Help.everyDay, style: .plain))
        // A failure to write a message cannot be reported.
        _ = try? log.drain()
        return ExitStatus.wrongUsage
    }
}
