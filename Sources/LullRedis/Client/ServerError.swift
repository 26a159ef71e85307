internal import LullDurable

/// An error that the server answers with.
struct ServerError: ServerFault {
    let text: String

    init(_ text: String) { self.text = text }

    func durable(in namespace: String) -> DurableError {
        switch text.prefix(while: { $0 != " " }) {
        case "NOPOLICY": .noPolicy(namespace: namespace)
        case "VERSION": .unusable(Self.otherVersion(Int64(text.dropFirst(8)) ?? 0, of: namespace))
        case "WRONGPASS", "NOAUTH", "NOPERM": .unusable("the server says: \(text)")
        case "WRONGTYPE": .unusable("the keys of Lull in the database hold something else: \(text)")
        case "OOM": .refused("the memory of the server is full (maxmemory)")
        case "MISCONF", "NOREPLICAS", "EXECABORT": .refused("the server says: \(text)")
        // A script that ends with an error of its own has written nothing; a fault in one is another matter.
        case _ where text.contains("user_script"): .unknown("the server says: \(text)")
        default: .refused("the server says: \(text)")
        }
    }

    /// Why a namespace cannot be used whose structures have another version.
    static func otherVersion(_ version: Int64, of namespace: String) -> String {
        if version > Scripts.version { return "the namespace \(namespace) was made by a newer version of Lull" }
        return """
            the namespace \(namespace) was made by an older version of Lull: let that version finish what it holds, and then \
            delete its keys, which begin with {lull:\(namespace):
            """
    }
}
