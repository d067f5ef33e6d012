import Testing

@testable import Yap

/// A graph whose edges lead from the children to their parent, counted in each way on several connections.
@Suite struct RelationshipWalkTests {
    private let stage: RelationshipStage
    private var graph: YapDatabaseRelationship { stage.graph }

    init() throws { stage = try RelationshipStage() }

    /// Each way to count finds the edges of these children to the parent.
    private func check(
        _ children: [String], _ transaction: YapDatabaseReadTransaction, _ sourceLocation: SourceLocation
    ) throws {
        let graph = try transaction[graph]
        let all = children.count
        #expect(
            try graph.count() == all && graph.count(named: "parent") == all
                && graph.count(to: .node("parent")) == all
                && graph.count(named: "parent", to: .node("parent")) == all, sourceLocation: sourceLocation)
        #expect(try graph.count(named: "other") == 0 && graph.count(named: "other", to: .node("parent")) == 0)
        #expect(try graph.count(from: .node("parent")) == 0 && graph.count(to: .node("none")) == 0)
        for key in ["a", "b", "c"] {
            let count = children.contains(key) ? 1 : 0
            #expect(
                try graph.count(from: .node(key)) == count
                    && graph.count(named: "parent", from: .node(key)) == count
                    && graph.count(from: .node(key), to: .node("parent")) == count
                    && graph.count(named: "parent", from: .node(key), to: .node("parent")) == count
                    && graph.count(to: .node(key)) == 0, sourceLocation: sourceLocation)
        }
        #expect(
            try graph.sources(named: "parent", of: .node("parent")).map(\.key).sorted() == children,
            sourceLocation: sourceLocation)
        #expect(
            try graph.edges(named: "parent").map(\.source.key).sorted() == children,
            sourceLocation: sourceLocation)
    }

    private func step(
        _ children: [String], _ sourceLocation: SourceLocation = #_sourceLocation,
        _ body: (YapDatabaseReadWriteTransaction) throws -> Void
    ) throws {
        try stage.write { transaction in
            try body(transaction)
            try check(children, transaction, sourceLocation)
        }
        try stage.read { try check(children, $0, sourceLocation) }
        try stage.connection.blocking.read { try check(children, $0, sourceLocation) }
    }

    @Test func childrenThatPointToTheirParentAreCountedOnEachConnection() throws {
        let child = GraphNode("parent", ["parent"], .deleteSourceIfDestinationDeleted)
        try step(["a", "b"]) { transaction in
            // The children come first.
            for key in ["a", "b"] { try transaction.set(child, key) }
            try transaction.set(GraphNode(), "parent")
        }
        try step(["a", "b", "c"]) { try $0.set(child, "c") }
        // Setting the parent or a child again is no other edge.
        try step(["a", "b", "c"]) { transaction in
            try transaction.set(GraphNode(mark: 1), "parent")
            try transaction.set(child, "b")
        }
        try step(["b", "c"]) { try $0.set(GraphNode(), "a") }
        try step(["b"]) { try $0.remove("c") }
        #expect(try stage.keys() == ["a", "b", "parent"])
        try step([]) { transaction in
            try transaction.remove("parent")
            try transaction[graph].flush()
        }
        #expect(try stage.keys() == ["a"])
    }
}
