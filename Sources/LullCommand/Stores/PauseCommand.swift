internal import LullCore
internal import LullDurable
internal import LullInspection

/// `lull pause` and `lull resume`.
enum PauseCommand {
    static func run(_ subcommand: Subcommand, _ options: CommandOptions) throws(Failure) -> String {
        let store = try options.openStore(for: subcommand)
        let (namespace, reason, time) = (options.namespace, options.reason, options.pauseTime)
        let name = Terminal.shown(namespace)
        if subcommand == .resume {
            let wasPaused = try store.change(for: subcommand) { try await $0.resume(namespace) }
            return wasPaused ? "resumed \(name)" : "\(name) was not paused"
        }
        let (old, pause, status) = try store.change(for: subcommand) { store in
            (
                try await store.status(of: namespace).pause,
                try await store.pause(namespace, reason: reason, for: time), try await store.status(of: namespace)
            )
        }
        if old != nil { return status.pauseLine ?? "\(name) is not paused" }
        let length = time.map { " for \(DurationText.rounded($0.nanoseconds))" } ?? ""
        return "paused \(name)\(length)\(pause.shownReason)"
    }
}

extension DurablePause {
    /// For how long the namespace has been paused.
    var age: Duration {
        let wall = StoreClock.system.read().wall
        return max(.zero, .nanoseconds(wall.nanoseconds) - time)
    }

    /// `: the API is down`, or nothing.
    var shownReason: String { reason.map { ": \(Terminal.plain($0))" } ?? "" }

    /// `has been paused since 2026-11-27 14:02:11 +0100, until 2026-11-27 14:03:11 +0100: the API is down`.
    ///
    /// - Parameter length: How long it still lasts; nil until a resume.
    func sentence(endingIn length: Duration?) -> String {
        let wall = StoreClock.system.read().wall.nanoseconds
        let end = length.map { ", until \(LocalTime.text((.nanoseconds(wall) + $0).components.seconds))" } ?? ""
        return "has been paused since \(LocalTime.text(time.components.seconds))\(end)\(shownReason)"
    }
}

extension DurableStatus {
    /// What there is to say of a pause that is no figure.
    var pauseLine: String? {
        pause.map { "\(Terminal.shown(namespace)) \($0.sentence(endingIn: pauseEndsIn))" }
    }

    var pauseMembers: [(String, JSONValue)] {
        [("pausedAt", .seconds(pause?.time)), ("pauseReason", .text(pause?.reason))]
    }
}
