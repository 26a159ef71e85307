import Lull

let search = Debouncer(for: .milliseconds(300), whileRunning: .cancelRunning) { (query: String) in
    results = try await server.search(query)
}

func edited(_ query: String) {
    search(query)                     // a stale answer is never shown
}
