import Testing

@testable import Yap

/// What a relationship's `whenEdgeDeleted` is called with.
@Suite struct RelationshipNotificationTests {
    private let log = Log()

    private func stage(
        _ replace: @escaping @Sendable (GraphNode, YapDatabaseEdgeDeletion) throws -> (any Sendable)?
    ) throws -> RelationshipStage {
        let log = log
        return try RelationshipStage(
            YapDatabaseRelationship(
                "graph", version: "1",
                whenEdgeDeleted: { deletion in
                    log.add("\(deletion.edge.name) \(deletion.reason) \(deletion.row.key)")
                    guard let node = deletion.object as? GraphNode else { return nil }
                    return try replace(node, deletion)
                }))
    }

    @Test func theOtherEndIsNotifiedOnceAndMayBeReplaced() throws {
        let stage = try stage { node, _ in GraphNode(mark: node.mark + 1) }
        try stage.write { transaction in
            try transaction.set(GraphNode("to", ["b"], .notifyIfDestinationDeleted), "a")
            try transaction.set(GraphNode(mark: 5), "b")
            try transaction[stage.graph].add(
                YapDatabaseEdge("from", from: .node("c"), to: .node("a"), rules: .notifyIfSourceDeleted))
            try transaction.set(GraphNode(), "c")
        }
        #expect(log.take() == [])
        try stage.write { try $0.remove("b") }
        #expect(log.take() == ["to destinationDeleted a"])
        #expect(try stage.read { try $0.node("a") } == GraphNode(mark: 1))
        try stage.write { try $0.remove("c") }
        #expect(log.take() == ["from sourceDeleted a"])
        #expect(try stage.read { try $0.node("a") } == GraphNode(mark: 2))
        #expect(try stage.count() == 0)
    }

    @Test func aRowThatIsDeletedIsNotNotified() throws {
        let stage = try stage { _, _ in nil }
        let rules: YapDatabaseEdgeRules = [.notifyIfDestinationDeleted, .deleteSourceIfDestinationDeleted]
        try stage.write { transaction in
            try transaction.set(GraphNode("to", ["b"], rules), "a")
            try transaction.set(GraphNode("note", ["b"], .notifyIfDestinationDeleted), "c")
            for key in ["b"] { try transaction.set(GraphNode(), key) }
        }
        try stage.write { transaction in
            try transaction.remove("b")
            try transaction.remove("c")
        }
        #expect(try log.take() == [] && stage.keys() == [])
    }

    @Test func anObjectThatIsOnlyStoredWithOtherEdgesFiresNothing() throws {
        let stage = try stage { _, _ in nil }
        try stage.write { transaction in
            try transaction.set(
                GraphNode("to", ["b"], [.notifyIfSourceDeleted, .deleteDestinationIfSourceDeleted]), "a")
            for key in ["b"] { try transaction.set(GraphNode(), key) }
        }
        try stage.write { try $0.set(GraphNode(), "a") }
        #expect(try log.take() == [] && stage.keys() == ["a", "b"] && stage.count() == 0)
    }

    @Test func replacementsWithoutEndAreAnError() throws {
        let stage = try stage { node, _ in
            GraphNode("to", ["missing \(node.mark)"], .notifyIfDestinationDeleted).marked(node.mark + 1)
        }
        try stage.write { try $0.set(GraphNode(), "a") }
        #expect(
            code {
                try stage.write { try $0.set(GraphNode("to", ["b"], .notifyIfDestinationDeleted), "a") }
            } == .extensionsDoNotSettle)
        #expect(try stage.read { try $0.node("a") } == GraphNode())
    }

    @Test func anErrorFailsTheTransactionAndSoDoesAnObjectOfAnotherType() throws {
        let refusing = try stage { _, _ in throw Refused() }
        let wrong = try stage { _, _ in "a text" }
        for stage in [refusing, wrong] {
            try stage.write { transaction in
                try transaction.set(GraphNode("to", ["b"], .notifyIfDestinationDeleted), "a")
                try transaction.set(GraphNode(), "b")
            }
            #expect(throws: (any Error).self) { try stage.write { try $0.remove("b") } }
            #expect(throws: (any Error).self) {
                try stage.write { transaction in
                    try transaction.remove("b")
                    try? transaction[stage.graph].flush()
                }
            }
            #expect(try stage.keys() == ["a", "b"] && stage.count() == 1)
        }
    }
}

extension GraphNode {
    fileprivate func marked(_ mark: Int) -> GraphNode {
        var node = self
        node.mark = mark
        return node
    }
}
