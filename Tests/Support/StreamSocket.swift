import Foundation

/// Makes a socket for a stream of bytes. The type of the constant is an enumeration in glibc, and a number everywhere
/// else.
package func streamSocket(_ family: Int32) -> Int32 {
    #if canImport(Glibc)
        socket(family, Int32(SOCK_STREAM.rawValue), 0)
    #else
        socket(family, SOCK_STREAM, 0)
    #endif
}
