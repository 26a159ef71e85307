import Lull

let sync = KeyedDebouncer(for: .seconds(1), maxWait: .seconds(5)) { (kind: Kind, _: Void) in
    try await store.synchronise(kind)
}

func received(_ kind: Kind) {
    sync.submit((), for: kind)
}
