internal import CLullHTTP

/// A page of the command: its files as they are written, which have nothing secret in them.
package struct HTTPPage: Sendable {
    package static let serve = HTTPPage(lull_serve_files())
    package static let top = HTTPPage(lull_top_files())

    /// What the path of every file begins with, but for that of the page itself.
    package static let folder = "/page/"

    /// The answers to requests for the files, by their paths.
    package let answers: [String: HTTPAnswer]

    private init(_ files: UnsafePointer<lull_page_file>) {
        var answers: [String: HTTPAnswer] = [:]
        for files in [lull_shared_files(), files] {
            var next = files
            while let file = next?.pointee, let name = file.name.map(String.init(cString:)) {
                answers[name.isEmpty ? "/" : Self.folder + name] = Self.answer(name, String(cString: file.text))
                next = next?.successor()
            }
        }
        self.answers = answers
    }

    private static func answer(_ name: String, _ text: String) -> HTTPAnswer {
        let type = name.hasSuffix(".js") ? "text/javascript" : name.hasSuffix(".css") ? "text/css" : "text/html"
        var answer = HTTPAnswer(200, "\(type); charset=utf-8", Array(text.utf8), [("Cache-Control", "no-cache")])
        if name.isEmpty { answer.fields += [("Content-Security-Policy", policy), ("Referrer-Policy", "no-referrer")] }
        return answer
    }

    private static let policy =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; "
        + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}
