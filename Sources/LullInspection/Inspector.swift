internal import CLullSockets
internal import Lull

/// Lets `lull top` look into this program while it runs: at each debouncer and throttler, with the file and line that
/// made it, its policy, what is pending, and what has become of its submits.
///
/// ```swift
/// @main
/// struct App {
///     static func main() async throws {
///         Inspector.startIfAsked()  // LULL_INSPECT=/tmp/app.sock
///         try await run()
///     }
/// }
/// ```
///
/// Call it first. What was made before is seen as soon as a value of its waits to be due. See <doc:LullInspection>.
public enum Inspector {
    /// Why a program cannot be looked into.
    public struct Unavailable: Error, Hashable, Sendable, CustomStringConvertible {
        /// The path that was given.
        public let path: String
        /// What is wrong there.
        public let reason: String

        /// The path and the reason, in one line.
        public var description: String { "\(path): \(reason)" }
    }

    private static let current = Guarded<InspectionServer?>(nil)

    /// Lets the programs of the same user look, through a socket at a path.
    ///
    /// Starts a thread, which sleeps while nobody looks. The socket takes the place of one that an ended program has
    /// left at the path. Another start moves it to another path.
    ///
    /// - Parameter path: At most 103 bytes on Apple's systems, and 107 on Linux. In a simulator it is a path of the
    ///   Mac.
    /// - Throws: ``Unavailable``, if there is something else, such as a file, a symbolic link, or the socket of a
    ///   program that runs.
    public static func start(at path: String) throws(Unavailable) {
        stop()
        RuntimeRegistry.begin()
        current.exchange(try InspectionServer(at: path))?.stop()
    }

    /// Does the same at the path in the environment variable `LULL_INSPECT`; nothing if there is none.
    ///
    /// A program should not fail because nobody can look into it: if something is wrong with the path, a line in the
    /// log says so.
    public static func startIfAsked() {
        guard let variable = lull_variable("LULL_INSPECT") else { return }
        let path = String(cString: variable)
        guard !path.isEmpty else { return }
        do {
            try start(at: path)
        } catch {
            logLine("Lull: LULL_INSPECT: \(error)", kind: "nobody can look into the program")
        }
    }

    /// Ends that, closes all connections, and removes the socket. Nothing happens if it was not started.
    public static func stop() {
        current.exchange(nil)?.stop()
    }
}
