internal import CLullCommand
internal import LullCharts
internal import LullCore

extension Picture {
    /// Writes the picture as an SVG file.
    func write(to path: Argument) throws(Failure) {
        let name = String(cString: path)
        let descriptor = lull_create(path)
        if descriptor < 0 { throw .system(name) }
        defer { close(descriptor) }
        var outlet = Outlet(descriptor)
        outlet.text.append(string: svg())
        do throws(Failure) {
            _ = try outlet.drain()
        } catch {
            throw Failure(status: error.status, message: "\(name): \(error.message)")
        }
    }
}

extension Failure {
    /// A picture was asked for of a trace in which nothing happens.
    static func nothingToDraw(in trace: String) -> Failure {
        let message = "\(trace): nothing was submitted, so there is nothing to draw for --svg"
        return Failure(status: ExitStatus.badData, message: message)
    }
}

extension Timeline {
    /// A picture of a stretch, and of what some policies made of it.
    init(
        _ stretch: Stretch, of key: [UInt8], title: String,
        _ policies: [(name: String, policy: Policy, colour: Int)]
    ) {
        let key = Terminal.shown(key)
        self.init(
            title: title,
            subtitle: "A stretch of the trace, from \(stretch.startText) s on, key \(key).",
            bounds: Double(stretch.from.nanoseconds)...Double(stretch.to.nanoseconds),
            submits: stretch.submits.map { Double($0.nanoseconds) },
            rows: policies.map { name, policy, colour in
                Row(
                    name, colour: colour,
                    stretch.executions(by: policy).map { (Double($0.first.nanoseconds), Double($0.at.nanoseconds)) })
            })
    }
}
