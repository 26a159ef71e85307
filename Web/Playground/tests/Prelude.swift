// Stand-ins for what the snippets of the playground expect of the app around them.

func handle(_ value: String) async throws {}
func handle(_ value: String, for key: String) async throws {}
func handle(_ values: [String]) async throws {}
func handle(_ values: [String], for key: String) async throws {}

struct Device: Sendable {
    func set(_ level: Int) async throws {}
}

struct Server: Sendable {
    func search(_ query: String) async throws -> [String] { [query] }
    func save(_ draft: String) async throws {}
}

enum Kind: Hashable, Sendable { case accounts, messages, settings }

struct Store: Sendable {
    func synchronise(_ kind: Kind) async throws {}
}

struct Model: Sendable {
    func answer(to messages: [String]) async throws -> String { "\(messages.count)" }
}

struct Chat: Sendable {
    func send(_ text: String) async {}
}

let model = Model()
let chat = Chat()
let message = "Hello!"
let device = Device()
let server = Server()
let store = Store()
@MainActor var results: [String] = []
