import System
import TestSeed
import Testing

@testable import Yap

/// The rules as a few lines over values say them.
private struct RelationshipModel: Equatable {
    struct Deleted {
        let edge: YapDatabaseEdge
        let isSource: Bool

        var other: String? {
            if !isSource { return edge.source.key }
            guard case .row(let row) = edge.destination else { return nil }
            return row.key
        }
    }

    var nodes: [String: GraphNode] = [:]
    var edges: [YapDatabaseEdge: YapDatabaseEdgeRules] = [:]
    /// Edges that nodes have to nodes that don't exist.
    var absent: [YapDatabaseEdge: YapDatabaseEdgeRules] = [:]

    mutating func set(_ node: GraphNode, _ key: String) {
        nodes[key] = node
        for edge in absent.keys where edge.source.key == key { absent[edge] = nil }
        for edge in absent.keys where edge.destination == .node(key) {
            edges[edge] = absent.removeValue(forKey: edge)
        }
        for edge in edges.keys where !edge.isManual && edge.source.key == key { edges[edge] = nil }
        for edge in node.edges(from: .node(key)) { edges[edge] = edge.rules }
    }

    /// As another version fills it.
    mutating func fill() {
        for (key, node) in nodes { set(node, key) }
        for case (let edge, .row(let row)) in edges.keys.map({ ($0, $0.destination) })
        where nodes[row.key] == nil {
            drop(edge)
        }
    }

    /// Deletes an edge whose source stays.
    private mutating func drop(_ edge: YapDatabaseEdge) {
        guard let rules = edges.removeValue(forKey: edge), !edge.isManual else { return }
        absent[edge] = rules
    }

    mutating func remove(_ key: String, _ pending: inout [Deleted]) {
        guard nodes.removeValue(forKey: key) != nil else { return }
        for edge in absent.keys where edge.source.key == key { absent[edge] = nil }
        for edge in edges.keys {
            let (isSource, isEnd) = (edge.source.key == key, edge.destination == .node(key))
            guard isSource || isEnd, let rules = edges[edge] else { continue }
            if isSource { edges[edge] = nil } else { drop(edge) }
            if !(isSource && isEnd) { pending.append(Deleted(edge: edge.with(rules), isSource: isSource)) }
        }
        pending.removeAll { $0.other == key }
    }

    /// All deleted edges together, and then those that this deletes.
    mutating func flush(_ pending: inout [Deleted]) {
        repeat {
            for (edge, rules) in edges {
                guard case .row(let row) = edge.destination else { continue }
                let (hasSource, hasEnd) = (nodes[edge.source.key] != nil, nodes[row.key] != nil)
                if hasSource, hasEnd { continue }
                if hasSource { drop(edge) } else { edges[edge] = nil }
                if hasSource || hasEnd {
                    pending.append(Deleted(edge: edge.with(rules), isSource: hasEnd))
                }
            }
            let deletions = pending.filter { deletes($0) }.compactMap(\.other)
            pending = []
            for key in deletions { remove(key, &pending) }
        } while !pending.isEmpty
    }

    private func deletes(_ deleted: Deleted) -> Bool {
        let (edge, rules) = (deleted.edge, deleted.edge.rules)
        let same = edges.keys.filter { $0.name == edge.name }
        if deleted.isSource {
            return rules.contains(.deleteDestinationIfSourceDeleted)
                || rules.contains(.deleteDestinationIfAllSourcesDeleted)
                    && !same.contains { $0.destination == edge.destination }
        }
        return rules.contains(.deleteSourceIfDestinationDeleted)
            || rules.contains(.deleteSourceIfAllDestinationsDeleted)
                && !same.contains { $0.source == edge.source }
    }
}

extension YapDatabaseEdge {
    fileprivate func with(_ rules: YapDatabaseEdgeRules) -> YapDatabaseEdge {
        var edge = YapDatabaseEdge(name, from: source, to: destination, rules: rules)
        edge.isManual = isManual
        return edge
    }

    fileprivate var asManual: YapDatabaseEdge {
        var edge = self
        edge.isManual = true
        return edge
    }
}

@Suite struct RelationshipAtRandomTests {
    private struct Draw {
        let random: SeededRandomSource

        mutating func number(_ below: Int) -> Int { Int(random.next() % UInt64(below)) }
        mutating func key() -> String { "\(number(12))" }
        mutating func rules() -> YapDatabaseEdgeRules {
            YapDatabaseEdgeRules(rawValue: [0, 0, 4, 8, 16, 32, 16, 32, 48, 12][number(10)])
        }
        mutating func edge() -> YapDatabaseEdge {
            YapDatabaseEdge("n\(number(2))", from: .node(key()), to: .node(key()), rules: rules())
        }
        mutating func node() -> GraphNode {
            // Two links of one name and destination would be one edge, with the rules of either.
            var links: [GraphNode.Link] = []
            for _ in 0..<number(4) {
                let link = GraphNode.Link(name: "n\(number(2))", to: key(), rules: rules().rawValue)
                if !links.contains(where: { $0.name == link.name && $0.to == link.to }) {
                    links.append(link)
                }
            }
            return GraphNode(links)
        }
    }

    /// Writes at random, also in savepoints and transactions that fail, and in runs without the relationship.
    @Test(arguments: TestSeed.values(count: 4))
    func aRelationshipIsAsAPlainGraphHasIt(_ seed: UInt64) throws {
        var stage = try RelationshipStage()
        var model = RelationshipModel()
        var draw = Draw(random: SeededRandomSource(seed: seed))
        for round in 0..<80 {
            var next = model
            var pending: [RelationshipModel.Deleted] = []
            let fails = draw.number(5) == 0
            try? stage.write { transaction in
                for _ in 0...draw.number(8) {
                    try step(&next, &pending, &draw, stage.graph, transaction)
                    if draw.number(6) == 0 {
                        var (lost, lostPending) = (next, pending)
                        try? transaction.savepoint {
                            for _ in 0..<3 {
                                try step(&lost, &lostPending, &draw, stage.graph, transaction)
                            }
                            throw Refused()
                        }
                    }
                }
                if fails { throw Refused() }
                next.flush(&pending)
            }
            if !fails { model = next }
            try expectEqual(stage, model, round)
            if draw.number(20) == 0 {
                try stage.database.blocking.close()
                let version = "\(draw.number(2))"
                if version != stage.graph.versionTag.prefix(1) { model.fill() }
                stage = try RelationshipStage(
                    YapDatabaseRelationship("graph", version: version), in: stage.folder)
                try expectEqual(stage, model, round)
            }
        }
        #expect(try stage.table("Pending") == 0)
    }

    private func step(
        _ model: inout RelationshipModel, _ pending: inout [RelationshipModel.Deleted], _ draw: inout Draw,
        _ graph: YapDatabaseRelationship, _ transaction: YapDatabaseReadWriteTransaction
    ) throws {
        switch draw.number(10) {
        case 0...4:
            let (node, key) = (draw.node(), draw.key())
            try transaction.set(node, key)
            model.set(node, key)
        case 5, 6:
            let key = draw.key()
            try transaction.remove(key)
            model.remove(key, &pending)
        case 7, 8:
            let edge = draw.edge()
            try transaction[graph].add(edge)
            // Keeps the key of the dictionary.
            model.edges[edge.asManual] = edge.rules
        default:
            try transaction[graph].flush()
            model.flush(&pending)
        }
    }

    private func expectEqual(_ stage: RelationshipStage, _ model: RelationshipModel, _ round: Int) throws {
        try stage.read { transaction in
            try #require(try transaction.keys() == model.nodes.keys.sorted(), "round \(round)")
            let edges = try transaction[stage.graph].edges()
            let stored = Dictionary(uniqueKeysWithValues: edges.map { ($0, $0.rules) })
            try #require(stored == model.edges, "round \(round)")
        }
    }
}
