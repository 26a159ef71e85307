import Foundation

// The simulators of devices start no processes.
#if os(macOS) || os(Linux)
    /// Lets another process stop this one, and let it go on after a second.
    ///
    /// - Returns: Whether that has happened.
    package func stopForASecond() -> Bool {
        var other: pid_t = 0
        let script = "kill -STOP \(getpid()); sleep 1; kill -CONT \(getpid())"
        var arguments: [UnsafeMutablePointer<CChar>?] = [strdup("sh"), strdup("-c"), strdup(script), nil]
        defer { for argument in arguments { free(argument) } }
        guard posix_spawn(&other, "/bin/sh", nil, nil, &arguments, nil) == 0 else { return false }
        var status: Int32 = 0
        return waitpid(other, &status, 0) == other
    }
#endif
