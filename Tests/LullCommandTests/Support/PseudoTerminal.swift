import CLullCommand
import Foundation

@testable import LullCommand

/// A terminal on which a test types and reads.
final class PseudoTerminal {
    /// What the process opens.
    let path: String
    private let descriptor: Int32
    private let other: Int32
    private var bytes: [UInt8] = []

    init() throws {
        #if canImport(Darwin)
            descriptor = posix_openpt(O_RDWR | O_NOCTTY)
            guard descriptor >= 0, grantpt(descriptor) == 0, unlockpt(descriptor) == 0, let name = ptsname(descriptor)
            else { throw Failure.system("a terminal") }
            path = String(cString: name)
        #else
            descriptor = open("/dev/ptmx", O_RDWR | O_NOCTTY)
            // TIOCSPTLCK and TIOCGPTN, which Swift does not import.
            var (lock, number): (Int32, Int32) = (0, 0)
            guard descriptor >= 0, ioctl(descriptor, 0x4004_5431, &lock) == 0,
                ioctl(descriptor, 0x8004_5430, &number) == 0
            else { throw Failure.system("a terminal") }
            path = "/dev/pts/\(number)"
        #endif
        // What was shown stays readable when the process has closed its end.
        other = open(path, O_RDWR | O_NOCTTY)
    }

    deinit {
        close(other)
        close(descriptor)
    }

    func type(_ text: String) {
        let bytes = Array(text.utf8)
        _ = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    }

    /// What was shown so far, also what was typed.
    func shown() -> String {
        var interest = pollfd(descriptor: descriptor, Int32(POLLIN))
        while poll(&interest, 1, 0) > 0 {
            var more = [UInt8](repeating: 0, count: 4096)
            let count = read(descriptor, &more, more.count)
            if count <= 0 { break }
            bytes += more[..<count]
        }
        return String(decoding: bytes, as: UTF8.self).replacing("\r\n", with: "\n")
    }
}
