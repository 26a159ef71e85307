import CLullCommand
import CLullSockets
import Foundation
import TestSupport

@testable import LullCommand

/// A path without a file for the socket of a program that can be looked into; removed with its last reference.
final class ProgramSocket {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("l-\(UUID().uuidString)").path

    deinit { unlink(path) }

    /// Starts a program that can be looked into, and waits until it can.
    func startProgram() throws -> ToolProcess {
        let program = try ToolProcess(
            [], environment: ["LULL_INSPECT": path], program: Products.path(of: "InspectionChild"))
        try eventually("it listens") {
            let connection = lull_socket_connect(path)
            if connection >= 0 { close(connection) }
            return connection >= 0
        }
        return program
    }

    /// A program that answers each connection with some text, and closes it unless told otherwise.
    ///
    /// - Parameter more: What it sends after that, again and again.
    func startAnswering(_ text: String, staysOpen: Bool = false, repeating more: String = "") throws -> Int32 {
        var why = [CChar](repeating: 0, count: 256)
        let listener = lull_socket_listen(path, &why, why.count)
        guard listener >= 0 else { throw POSIXError(.EADDRINUSE) }
        Thread.detachNewThread {
            var interest = pollfd(descriptor: listener, Int32(POLLIN))
            while poll(&interest, 1, -1) > 0 {
                let connection = lull_socket_accept(listener)
                guard connection >= 0 else { return }
                let bytes = Array(text.utf8)
                _ = lull_socket_send(connection, bytes, bytes.count)
                // Until the other side has closed the connection, ten times a second.
                var closed = pollfd(descriptor: connection, Int32(POLLIN))
                while !more.isEmpty, poll(&closed, 1, 100) == 0 {
                    _ = lull_socket_send(connection, Array(more.utf8), more.utf8.count)
                }
                if !staysOpen { close(connection) }
            }
        }
        return listener
    }
}
