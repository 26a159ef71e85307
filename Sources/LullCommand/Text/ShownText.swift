/// Text from elsewhere (keys, names, what commands say), made fit for one line on a terminal.
enum ShownText {
    /// As much of a key, or of a name, as a message shows.
    static let word = 60

    /// The text without control characters, also those beyond ASCII.
    static func plain(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isControl) else { return text }
        var plain = String.UnicodeScalarView()
        for scalar in text.unicodeScalars { plain.append(isControl(scalar) ? "?" : scalar) }
        return String(plain)
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.generalCategory == .control
    }

    /// The beginning of a text that is too long.
    static func beginning(_ text: String, _ limit: Int = word) -> String {
        // No text has more characters than bytes, and counting those is fast.
        text.utf8.count <= limit || text.count <= limit ? text : text.prefix(limit - 1) + "…"
    }

    /// The end of a text that is too long.
    static func end(_ text: String, _ limit: Int) -> String {
        text.utf8.count <= limit || text.count <= limit ? text : "…" + text.suffix(limit - 1)
    }
}
