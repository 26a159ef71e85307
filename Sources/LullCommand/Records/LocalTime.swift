internal import CLullCommand

/// Instants by the clock of the place where they are read.
enum LocalTime {
    /// Returns `2026-11-27 14:02:11 +0100`.
    ///
    /// - Parameter seconds: Since 1970.
    static func text(_ seconds: Int64) -> String {
        var time = time_t(seconds)
        var parts = tm()
        guard localtime_r(&time, &parts) != nil else { return "\(seconds)" }
        var text = [CChar](repeating: 0, count: 64)
        let count = strftime(&text, text.count, "%Y-%m-%d %H:%M:%S %z", &parts)
        return String(decoding: text.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
