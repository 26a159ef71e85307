import Lull

let save = Debouncer(for: .seconds(2), maxWait: .seconds(10)) { (draft: String) in
    try await server.save(draft)
}

func edited(_ draft: String) {
    save(draft)
}

func leftTheScreen() {
    save.flush()
}
