import Foundation
import LullDurable
import LullPostgres

struct Order: Codable, Sendable {
    var id: Int
    var status: String
}

/// A server that mails a customer about an order when it has stopped changing: once for several changes, and also if
/// the server is killed meanwhile. Any number of these servers share one database.
///
/// `PUT /orders/17` changes an order, and `GET /` says how much is pending. In the environment, `DATABASE` is the URL
/// of a PostgreSQL database, `PORT` where to listen, and `WAIT` the quiet period in seconds.
@main
struct OrderServer {
    static func main() async throws {
        let environment = ProcessInfo.processInfo.environment
        let url = environment["DATABASE"] ?? "postgres://localhost/orders"
        let wait = Duration.seconds(environment["WAIT"].flatMap(Double.init) ?? 600)
        let requests = try requests(port: environment["PORT"].flatMap(UInt16.init) ?? 8080)

        try PostgresSchema(url: url).apply()
        let store = try await PostgresStore(url: url)
        let mails = try await DurableDebouncer<Int, Order>(
            for: wait, maxWait: wait * 6, namespace: "order-mails", in: store)

        try await withThrowingTaskGroup { tasks in
            tasks.addTask {
                try await mails.run { execution in
                    // A mail server that is given the name of the run recognizes a mail that it has sent already.
                    print("mail \(execution.runID): order \(execution.key) is \(execution.value.status)")
                }
            }
            tasks.addTask {
                for await request in requests { await answer(request, mails) }
            }
            tasks.addTask { await terminated() }
            // Whatever ends first ends the others; the worker gives back what it has not done.
            try await tasks.next()
            tasks.cancelAll()
        }
        await store.close()
    }

    static func answer(_ request: Request, _ mails: DurableDebouncer<Int, Order>) async {
        do {
            if request.method == "PUT", let id = request.path.split(separator: "/").last.flatMap({ Int($0) }) {
                try await mails.submit(Order(id: id, status: request.body), for: id)
                // It is in the database: from here on, a kill loses nothing.
                request.answer(202, "accepted")
            } else {
                request.answer(200, "pending: \(try await mails.status().pending)")
            }
        } catch {
            request.answer(503, "\(error)")
        }
    }

    /// Returns when the process is asked to end.
    static func terminated() async {
        signal(SIGTERM, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: SIGTERM)
        let signals = AsyncStream<Void> { continuation in
            source.setEventHandler { continuation.yield() }
            source.resume()
        }
        for await _ in signals { return }
    }
}
