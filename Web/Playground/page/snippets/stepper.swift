import Lull

let send = Debouncer(for: .seconds(1)) { (level: Int) in
    try await device.set(level)
}

func stepped(to level: Int) {
    send(level)                       // at every press; returns at once
}
