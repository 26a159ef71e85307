import Foundation
import TestSupport
import Testing

@testable import LullRedis

/// A cluster of three masters.
final class TestCluster {
    let nodes: [TestRedis]
    private let names: [String]

    init(_ settings: [String] = ["save ''"]) throws {
        let nodes = try (0..<3).map { _ in
            try TestRedis(settings + ["cluster-enabled yes", "cluster-node-timeout 3000"], hasPort: true)
        }
        self.nodes = nodes
        names = try nodes.map { try $0("CLUSTER", "MYID") }
        let ends = [0, 5461, 10923, Slot.count]
        for (index, node) in nodes.enumerated() {
            try node("CLUSTER", "ADDSLOTSRANGE", "\(ends[index])", "\(ends[index + 1] - 1)")
            try node("CLUSTER", "SET-CONFIG-EPOCH", "\(index + 1)")
        }
        for node in nodes.dropFirst() { try nodes[0]("CLUSTER", "MEET", "127.0.0.1", "\(node.port ?? 0)") }
        try blockUntil(or: "the cluster does not come together") {
            try nodes.allSatisfy {
                try $0("CLUSTER", "INFO").contains("cluster_state:ok")
                    && $0("CLUSTER", "NODES").split(separator: "\n").count == 3
            }
        }
    }

    /// Moves a slot to a node, key by key, as the usual tools do.
    func move(_ slot: Int, to target: Int) throws {
        guard let owner = try owner(of: slot), owner != target else { return }
        try nodes[target]("CLUSTER", "SETSLOT", "\(slot)", "IMPORTING", names[owner])
        try nodes[owner]("CLUSTER", "SETSLOT", "\(slot)", "MIGRATING", names[target])
        while true {
            let keys = try nodes[owner]("CLUSTER", "GETKEYSINSLOT", "\(slot)", "1")
            if keys.isEmpty { break }
            for key in keys.split(separator: "\n") {
                let answer = try nodes[owner](
                    "MIGRATE", "127.0.0.1", "\(nodes[target].port ?? 0)", String(key), "0", "10000")
                guard ["OK", "NOKEY"].contains(answer) else {
                    throw TestRedis.NotStarted(description: "\(key): \(answer)")
                }
            }
        }
        // The new owner first, so that the slot is never without one.
        for node in [nodes[target], nodes[owner]] + nodes {
            try node("CLUSTER", "SETSLOT", "\(slot)", "NODE", names[target])
        }
    }

    /// The node that has a slot.
    func owner(of slot: Int) throws -> Int? {
        for (index, node) in nodes.enumerated() {
            let mine = try node("CLUSTER", "NODES").split(separator: "\n").first { $0.contains("myself") }
            for range in mine?.split(separator: " ").dropFirst(8) ?? [] where !range.hasPrefix("[") {
                let ends = range.split(separator: "-").compactMap { Int($0) }
                if let first = ends.first, let last = ends.last, first...last ~= slot { return index }
            }
        }
        return nil
    }
}
