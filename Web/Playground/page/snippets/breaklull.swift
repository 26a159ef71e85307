import Lull

let save = Debouncer(for: .milliseconds(300)) { (draft: String) in
    try await server.save(draft)
}

func edited(_ draft: String) {
    save(draft)
}
