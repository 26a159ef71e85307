internal import CLullHTTP

/// A page of the command: one file, and the policy under which a browser shows it.
package enum HTTPPage {
    /// The page of `lull serve`.
    package static let serve = answer(lull_page(), lull_page_policy())
    /// The page of `lull top`.
    package static let top = answer(lull_top_page(), lull_top_page_policy())

    /// Neither has anything secret in it.
    private static func answer(_ text: UnsafePointer<CChar>, _ policy: UnsafePointer<CChar>) -> HTTPAnswer {
        HTTPAnswer(
            200, "text/html; charset=utf-8", Array(String(cString: text).utf8),
            [
                ("Content-Security-Policy", String(cString: policy)), ("X-Content-Type-Options", "nosniff"),
                ("Referrer-Policy", "no-referrer"), ("Cache-Control", "no-cache"),
            ])
    }
}
