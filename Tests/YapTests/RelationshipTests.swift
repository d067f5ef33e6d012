import SQLite
import Testing

@testable import Yap

/// `YapDatabaseRelationship`: edges follow the rows, and rules delete or notify the other end.
@Suite struct RelationshipTests {
    typealias Rules = YapDatabaseEdgeRules

    private let stage: RelationshipStage
    private var graph: YapDatabaseRelationship { stage.graph }

    init() throws { stage = try RelationshipStage() }

    private func link(
        _ name: String, _ source: String, _ destination: String, _ rules: Rules = []
    ) -> YapDatabaseEdge {
        YapDatabaseEdge(name, from: .node(source), to: .node(destination), rules: rules)
    }

    private func expectFamily(_ transaction: YapDatabaseReadTransaction, _ count: Int) throws {
        let graph = try transaction[graph]
        let parent = YapCollectionKey.node("parent")
        #expect(try graph.count() == count && graph.count(named: "child") == count)
        #expect(try graph.count(named: "other") == 0 && graph.count(named: "other", from: parent) == 0)
        #expect(try graph.count(from: parent) == count && graph.count(named: "child", from: parent) == count)
        #expect(try graph.count(to: .node("a")) == min(count, 1))
        #expect(try graph.count(named: "child", to: .node("a")) == min(count, 1))
        #expect(try graph.count(from: parent, to: .node("a")) == min(count, 1))
        #expect(try graph.count(named: "child", from: parent, to: .node("b")) == max(0, count - 1))
        #expect(try graph.edges(named: "child", from: parent).count == count)
        #expect(try graph.sources(named: "child", of: .node("a")) == (count > 0 ? [parent] : []))
        #expect(try graph.destinations(of: parent).count == count)
    }

    @Test func anObjectThatListsItsChildrenHasEdgesToThem() throws {
        let parent = GraphNode("child", ["a", "b"], .deleteDestinationIfSourceDeleted)
        try stage.write { transaction in
            try transaction.set(parent, "parent")
            for key in ["a", "b"] { try transaction.set(GraphNode(), key) }
            try expectFamily(transaction, 2)
        }
        try stage.read { try expectFamily($0, 2) }
        try stage.connection.blocking.read { try expectFamily($0, 2) }
        try stage.write { transaction in
            for key in ["a", "b"] { try transaction.remove(key) }
            try expectFamily(transaction, 0)
        }
        try stage.read { try expectFamily($0, 0) }
        try stage.write { transaction in
            for key in ["a", "b"] { try transaction.set(GraphNode(), key) }
            try transaction.set(parent, "parent")
            try expectFamily(transaction, 2)
        }
        try stage.read { try expectFamily($0, 2) }
        try stage.write { try $0.remove("parent") }
        #expect(try stage.keys() == [] && stage.count() == 0)
    }

    @Test func childrenThatPointToTheirParentAreDeletedWithIt() throws {
        let child = GraphNode("parent", ["parent"], .deleteSourceIfDestinationDeleted)
        try stage.write { transaction in
            for key in ["a", "b"] { try transaction.set(child, key) }
            try transaction.set(GraphNode(), "parent")
            #expect(try transaction[graph].count(named: "parent", to: .node("parent")) == 2)
        }
        #expect(try stage.count() == 2)
        try stage.write { try $0.remove("a") }
        #expect(try stage.keys() == ["b", "parent"] && stage.count() == 1)
        try stage.write { try $0.remove("parent") }
        #expect(try stage.keys() == [] && stage.count() == 0)
    }

    @Test func aDestinationIsDeletedWithItsLastSource() throws {
        let source = GraphNode("uses", ["shared"], .deleteDestinationIfAllSourcesDeleted)
        try stage.write { transaction in
            try transaction.set(GraphNode(), "shared")
            for key in ["a", "b"] { try transaction.set(source, key) }
        }
        try stage.write { try $0.remove("a") }
        #expect(try stage.keys() == ["b", "shared"])
        try stage.write { try $0.remove("b") }
        #expect(try stage.keys() == [])
    }

    @Test func aSourceIsDeletedWithItsLastDestination() throws {
        let source = GraphNode("needs", ["a", "b"], .deleteSourceIfAllDestinationsDeleted)
        try stage.write { transaction in
            try transaction.set(source, "source")
            for key in ["a", "b"] { try transaction.set(GraphNode(), key) }
        }
        try stage.write { try $0.remove("a") }
        #expect(try stage.keys() == ["b", "source"])
        try stage.write { try $0.remove("b") }
        #expect(try stage.keys() == [])
    }

    @Test func retainCountsWorkInOneTransactionAndWithFlush() throws {
        let source = GraphNode("needs", ["a", "b"], .deleteSourceIfAllDestinationsDeleted)
        try stage.write { transaction in
            try transaction.set(source, "source")
            for key in ["a", "b"] { try transaction.set(GraphNode(), key) }
            try transaction[graph].flush()
            try transaction.remove("a")
            try transaction[graph].flush()
            #expect(try transaction.keys() == ["b", "source"])
            try transaction.remove("b")
            #expect(try transaction.keys() == ["source"])
            try transaction[graph].flush()
            #expect(try transaction.keys() == [])
        }
        try stage.write { transaction in
            try transaction.set(source, "source")
            for key in ["a", "b"] { try transaction.set(GraphNode(), key) }
            for key in ["a", "b"] { try transaction.remove(key) }
        }
        #expect(try stage.keys() == [] && stage.count() == 0)
    }

    @Test func aRetainCountCountsTheEdgesOfItsNameAlone() throws {
        try stage.write { transaction in
            try transaction.set(GraphNode("uses", ["c"], .deleteDestinationIfAllSourcesDeleted), "a")
            try transaction.set(GraphNode("other", ["c"]), "b")
            try transaction.set(GraphNode(), "c")
        }
        try stage.write { try $0.remove("a") }
        #expect(try stage.keys() == ["b"] && stage.count() == 0)
    }

    // MARK: Manual edges

    @Test func aManualEdgeDeletesItsDestinationAtTheFlush() throws {
        let edge = link("owns", "a", "b", .deleteDestinationIfSourceDeleted)
        try stage.write { transaction in
            for key in ["a", "b"] { try transaction.set(GraphNode(), key) }
            try transaction[graph].add(edge)
            #expect(try transaction[graph].edges().first?.isManual == true)
            try transaction.remove("a")
            #expect(try transaction.keys() == ["b"])
            try transaction[graph].flush()
            #expect(try transaction.keys() == [])
        }
        #expect(try stage.keys() == [] && stage.count() == 0)
    }

    @Test func aManualEdgeThatIsAddedAgainIsOneEdge() throws {
        let edge = link("owns", "a", "b", .deleteDestinationIfSourceDeleted)
        for _ in 0..<2 {
            try stage.write { transaction in
                for key in ["a", "b"] { try transaction.set(GraphNode(), key) }
                for _ in 0..<2 { try transaction[graph].add(edge) }
                #expect(try transaction[graph].count() == 1)
            }
        }
        // Storing the object again leaves its manual edges, and other rules are set.
        try stage.write { try $0[graph].add(link("owns", "a", "b", .notifyIfSourceDeleted)) }
        #expect(try stage.read { try $0[graph].edges().map(\.rules) } == [.notifyIfSourceDeleted])
    }

    @Test(arguments: [
        (YapDatabaseEdgeDeletionReason.edgeDeleted, ["a", "b"]), (.sourceDeleted, ["a"]),
        (.destinationDeleted, ["b"]),
    ])
    func removingAManualEdgeFiresTheRulesOfTheReasonAlone(
        _ reason: YapDatabaseEdgeDeletionReason, _ keys: [String]
    ) throws {
        let rules: Rules = [.deleteDestinationIfSourceDeleted, .deleteSourceIfDestinationDeleted]
        try stage.write { transaction in
            for key in ["a", "b"] { try transaction.set(GraphNode(), key) }
            try transaction[graph].add(link("owns", "a", "b", rules))
        }
        try stage.write { transaction in
            let graph = try transaction[graph]
            #expect(try !graph.remove(link("owns", "b", "a")))
            #expect(try graph.remove(link("owns", "a", "b"), as: reason))
            #expect(try !graph.remove(link("owns", "a", "b"), as: reason))
        }
        #expect(try stage.keys() == keys && stage.count() == 0 && stage.table("Pending") == 0)
    }

    @Test func anEdgeToMissingNodesIsCountedUntilTheCommit() throws {
        try stage.write { transaction in
            try transaction.set(GraphNode(), "a")
            try transaction[graph].add(link("l", "a", "missing"))
            try transaction[graph].add(link("l", "missing", "a"))
            try transaction[graph].add(link("l", "missing", "other"))
            #expect(try transaction[graph].count() == 3)
        }
        #expect(try stage.count() == 0 && stage.keys() == ["a"])
    }

    @Test func anEdgeMayBeAddedBeforeItsEnds() throws {
        try stage.write { transaction in
            try transaction[graph].add(link("l", "a", "b", .deleteDestinationIfSourceDeleted))
            for key in ["b", "a"] { try transaction.set(GraphNode(), key) }
        }
        #expect(try stage.count() == 1)
        try stage.write { try $0.remove("a") }
        #expect(try stage.keys() == [])
    }

    private static let missingCases: [(Rules, [String])] = [
        (.deleteSourceIfDestinationDeleted, []), (.deleteSourceIfAllDestinationsDeleted, []),
        ([.deleteDestinationIfSourceDeleted, .deleteDestinationIfAllSourcesDeleted], ["a"]), ([], ["a"]),
    ]

    @Test(arguments: missingCases)
    func rulesFireForMissingDestinations(_ rules: Rules, _ keys: [String]) throws {
        try stage.write { try $0.set(GraphNode("l", ["missing"], rules), "a") }
        #expect(try stage.keys() == keys && stage.count() == 0 && stage.table("Pending") == 0)
        // One of two destinations exists.
        try stage.write { transaction in
            try transaction.set(GraphNode(), "b")
            try transaction.set(GraphNode("l", ["missing", "b"], rules), "a")
        }
        let isPlain = rules == .deleteSourceIfDestinationDeleted
        #expect(try stage.keys() == (isPlain ? ["b"] : ["a", "b"]) && stage.count() == (isPlain ? 0 : 1))
    }

    @Test func rulesFireForMissingSources() throws {
        try stage.write { transaction in
            for key in ["a", "b"] { try transaction.set(GraphNode(), key) }
            try transaction[graph].add(link("l", "missing", "a", .deleteDestinationIfSourceDeleted))
            try transaction[graph].add(link("l", "missing", "b", .deleteSourceIfDestinationDeleted))
        }
        #expect(try stage.keys() == ["b"] && stage.count() == 0)
    }

    @Test func anEnumerationMayStandInsideAnother() throws {
        try stage.write { transaction in
            try transaction.set(GraphNode("child", ["a", "b"]), "parent")
            for key in ["a", "b"] { try transaction.set(GraphNode(), key) }
            var count = 0
            for edge in try transaction[graph].edges(named: "child") {
                for _ in try transaction[graph].edges(named: "child", from: edge.source) { count += 1 }
            }
            #expect(count == 4)
        }
        let edges = try stage.read { try $0[graph].edges(limit: 1) }
        #expect(edges.count == 1)
    }

    // MARK: Cascades

    @Test(arguments: [Rules.deleteDestinationIfSourceDeleted, .deleteSourceIfDestinationDeleted])
    func aCycleEnds(_ rules: Rules) throws {
        try stage.write { transaction in
            for number in 0..<5 {
                try transaction.set(GraphNode("next", ["\((number + 1) % 5)"], rules), "\(number)")
            }
            try transaction.set(GraphNode("self", ["loop"], rules), "loop")
        }
        #expect(try stage.count() == 6)
        try stage.write { try $0.remove("3") }
        #expect(try stage.keys() == ["loop"] && stage.count() == 1)
        try stage.write { try $0.remove("loop") }
        #expect(try stage.count() == 0 && stage.table("Pending") == 0)
    }

    @Test func aLongChainIsRemovedWithoutRecursion() throws {
        let count = 1_200
        try stage.write { transaction in
            for number in 0..<count {
                let links = number + 1 < count ? ["\(number + 1)"] : []
                try transaction.set(
                    GraphNode("next", links, .deleteDestinationIfSourceDeleted), "\(number)")
            }
        }
        try stage.write { try $0.remove("0") }
        #expect(try stage.keys() == [] && stage.count() == 0)
    }

    @Test func otherExtensionsHearOfRowsThatRulesRemove() throws {
        let index = YapDatabaseSecondaryIndex("marks", of: GraphNode.self, in: "nodes", version: "1") {
            $0.column(\.mark, "mark")
        }
        try stage.database.blocking.register(index)
        try stage.write { transaction in
            try transaction.set(GraphNode("c", ["b"], .deleteDestinationIfSourceDeleted), "a")
            try transaction.set(GraphNode(), "b")
        }
        let commits = CommitList()
        stage.database.addInlineCommitObserver { commits.add($0) }
        try stage.write { try $0.remove("a") }
        #expect(try stage.read { try $0[index].count() } == 0)
        #expect(commits.commits.last?.hasChange(forKey: "b", inCollection: "nodes") == true)
    }

    @Test func rulesFireForAllRowsOfAClearedCollection() throws {
        try stage.write { transaction in
            for number in 0..<1_200 {
                let edge = YapDatabaseEdge(
                    "note", from: YapCollectionKey(collection: "nodes", key: "\(number)"),
                    to: .row("\(number)", in: "notes"), rules: .deleteDestinationIfSourceDeleted)
                try transaction.set(GraphNode(), "\(number)")
                try transaction.setObject("text", forKey: "\(number)", inCollection: "notes")
                try transaction[graph].add(edge)
            }
            try transaction.setObject("text", forKey: "own", inCollection: "notes")
        }
        try stage.write { try $0.removeAllObjects(inCollection: "nodes") }
        #expect(try stage.read { try $0.allKeys(inCollection: "notes") } == ["own"])
        #expect(try stage.count() == 0)
        try stage.write { transaction in
            try transaction.set(GraphNode("c", ["b"]), "a")
            try transaction.set(GraphNode(), "b")
        }
        try stage.write { try $0.removeAllObjectsInAllCollections() }
        #expect(try stage.count() == 0 && stage.table("Pending") == 0)
    }

    @Test func aRowThatIsMadeAgainHasItsNewEdgesAlone() throws {
        let parent = GraphNode("child", ["a"], .deleteDestinationIfSourceDeleted)
        try stage.write { transaction in
            for key in ["a", "b"] { try transaction.set(GraphNode(), key) }
            try transaction.set(parent, "parent")
        }
        try stage.write { transaction in
            try transaction.remove("parent")
            try transaction.set(
                GraphNode("child", ["b"], .deleteDestinationIfSourceDeleted), "parent")
        }
        #expect(try stage.keys() == ["b", "parent"] && stage.count() == 1)
    }

    // MARK: Costs

    /// SQLite's count of changed rows.
    private func changesCount(_ body: (YapDatabaseReadWriteTransaction) throws -> Void) throws -> Int {
        try stage.write { transaction in
            let before = transaction.store.sqlite.totalChangesCount
            try body(transaction)
            try transaction[graph].flush()
            return transaction.store.sqlite.totalChangesCount - before
        }
    }

    @Test func storingAnObjectWithTheSameEdgesWritesNoEdge() throws {
        let node = GraphNode("child", ["a", "b"], .deleteDestinationIfSourceDeleted)
        try stage.write { transaction in
            for key in ["a", "b"] { try transaction.set(GraphNode(), key) }
            try transaction.set(node, "parent")
        }
        #expect(try changesCount { try $0.set(node, "parent") } == 1)
        #expect(try changesCount { try $0[graph].flush() } == 0)
    }

    @Test func aCascadeWritesAsManyRowsAsItRemovesTimesAConstant() throws {
        var counts: [Int] = []
        for count in [600, 1_200] {
            let keys = (0..<count).map { "\($0)" }
            try stage.write { transaction in
                for key in keys { try transaction.set(GraphNode(), key) }
                try transaction.set(
                    GraphNode("child", keys, .deleteDestinationIfSourceDeleted), "parent")
            }
            counts.append(try changesCount { try $0.remove("parent") })
            #expect(try stage.keys() == [] && stage.count() == 0)
        }
        // An edge, its pending rule twice, and the row.
        #expect(counts == [4 * 600 + 1, 4 * 1_200 + 1])
    }

    @Test func edgesWithAnEndAreFoundByTheEndAndNotByTheirName() throws {
        let ends: [(YapCollectionKey?, YapDatabaseEdgeDestination?, String)] = [
            (.node("a"), nil, "source_of"), (nil, .node("a"), "destination_of"),
            (.node("a"), .node("b"), "source_of"), (nil, nil, "name_of"),
        ]
        try stage.read { transaction in
            let part = try transaction[graph]
            for (source, destination, index) in ends {
                let filter = RelationshipFilter(name: "n", source: source, destination: destination)
                let order = part.order(filter)
                let (text, values) = part.sql.find(RelationshipSQL.columns, filter, order: order)
                let plan = try part.tables.rows("EXPLAIN QUERY PLAN " + text, values)
                #expect("\(plan.first ?? [])".contains("INDEX \(index)_relationship_graph"), "\(plan)")
            }
        }
    }
}
