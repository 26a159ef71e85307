#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#endif

/// Writes a line to standard error, in one write, so that lines of several threads do not mix.
package func writeToStandardError(_ line: String) {
    _ = Array((line + "\n").utf8).withUnsafeBytes { write(2, $0.baseAddress, $0.count) }
}
