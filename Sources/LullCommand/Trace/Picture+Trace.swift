internal import CLullCommand
internal import LullCharts
internal import LullCore

extension Picture {
    func write(to path: Argument) throws(Failure) {
        let name = String(cString: path)
        let descriptor = lull_create(path)
        if descriptor < 0 { throw .system(name) }
        defer { close(descriptor) }
        var outlet = OutputBuffer(descriptor)
        outlet.bytes.append(string: svg())
        do throws(Failure) { _ = try outlet.drain() } catch { throw error.of(name) }
    }
}

extension Failure {
    /// A picture of a trace without submits was asked for.
    static func nothingToDraw(in trace: String) -> Failure {
        .badData("\(trace): nothing was submitted, so there is nothing to draw for --svg")
    }
}

extension Timeline {
    /// Creates a picture of an excerpt, and of its executions under some policies.
    init(
        _ excerpt: TraceExcerpt, of key: [UInt8], title: String,
        _ policies: [(name: String, policy: Policy, colour: Int)]
    ) {
        // Keys are JSON: the name of one that is called null has quotation marks.
        let part =
            key.elementsEqual("null".utf8) ? "Part of the trace" : "Part of the trace of key \(Terminal.shown(key))"
        self.init(
            title: title, subtitle: "\(part), from \(excerpt.startText) s on.",
            bounds: Double(excerpt.from.nanoseconds)...Double(excerpt.to.nanoseconds),
            submits: excerpt.submits.map { Double($0.nanoseconds) },
            rows: policies.map { name, policy, colour in
                Row(
                    name, colour: colour,
                    excerpt.executions(by: policy).map { (Double($0.first.nanoseconds), Double($0.at.nanoseconds)) },
                    runs: excerpt.rowsOfRuns.map { runs in
                        runs.map { (Double($0.from.nanoseconds), Double($0.to.nanoseconds), $0.isCut) }
                    })
            })
    }
}
