import Testing

@testable import Yap

/// Edges of objects whose destination is removed and comes back, while the objects stay as they are.
@Suite struct RelationshipAbsentTests {
    private typealias Rules = YapDatabaseEdgeRules

    private let stage: RelationshipStage

    init() throws { stage = try RelationshipStage() }

    /// A photo in two albums, which is deleted with the last of them.
    private func setPhoto(_ transaction: YapDatabaseReadWriteTransaction) throws {
        for key in ["a1", "a2"] { try transaction.set(GraphNode(), key) }
        try transaction.set(
            GraphNode("in", ["a1", "a2"], Rules.deleteSourceIfAllDestinationsDeleted), "photo")
    }

    @Test(arguments: [false, true]) func anEdgeComesBackWithItsDestination(relaunches: Bool) throws {
        try stage.write { try setPhoto($0) }
        try stage.write { try $0.remove("a1") }
        #expect(try stage.count() == 1)
        #expect(try stage.read { try $0[stage.graph].sources(of: .node("a1")) } == [])
        var later = stage
        if relaunches {
            try stage.database.blocking.close()
            later = try RelationshipStage(in: stage.folder)
        }
        try later.write { try $0.set(GraphNode(), "a1") }
        #expect(try later.count() == 2)
        try later.write { try $0.remove("a2") }
        #expect(try later.keys() == ["a1", "photo"])
        try later.write { try $0.remove("a1") }
        #expect(try later.keys() == [] && later.count() == 0 && later.table() == 0)
    }

    @Test func anEdgeComesBackAlsoAfterASavepointThatFailed() throws {
        try stage.write { try setPhoto($0) }
        try stage.write { try $0.remove("a1") }
        try stage.write { transaction in
            try? transaction.savepoint {
                // Without edges that wait, the insertion looks for none.
                try transaction.removeAllObjectsInAllCollections()
                try transaction.set(GraphNode(), "other")
                throw Refused()
            }
            try transaction.set(GraphNode(), "a1")
        }
        #expect(try stage.count() == 2)
    }

    @Test func anEdgeThatItsObjectGaveUpDoesNotComeBack() throws {
        try stage.write { try setPhoto($0) }
        try stage.write { try $0.remove("a1") }
        try stage.write { try $0.set(GraphNode("in", ["a2"]), "photo") }
        #expect(try stage.table() == 1)
        try stage.write { try $0.set(GraphNode(), "a1") }
        #expect(try stage.count() == 1)
    }

    @Test func observedEdgesChangeWhenTheDestinationComesBack() throws {
        try stage.write { try setPhoto($0) }
        try stage.write { try $0.remove("a1") }
        let edge = YapDatabaseEdge("in", from: .node("photo"), to: .node("a1"))
        try stage.write { transaction in
            try transaction.set(GraphNode(), "a1")
            let writer = try #require(try transaction[stage.graph].writer)
            let changes = try #require(writer.changesSoFar as? RelationshipChanges)
            #expect(changes.edges == [edge])
        }
    }

    @Test func anotherVersionKeepsTheEdgesOfAbsentDestinations() throws {
        try stage.write { try setPhoto($0) }
        try stage.write { try $0.remove("a1") }
        try stage.database.blocking.close()
        let later = try RelationshipStage(
            YapDatabaseRelationship("graph", version: "2"), in: stage.folder)
        #expect(try later.count() == 1)
        try later.write { try $0.set(GraphNode(), "a1") }
        try later.write { try $0.remove("a2") }
        #expect(try later.keys() == ["a1", "photo"])
    }

    @Test func anEdgeWaitsForItsDestinationWhileTheRelationshipIsNotRegistered() throws {
        try stage.write { try setPhoto($0) }
        try stage.database.blocking.close()
        let without = try RelationshipStage(in: stage.folder, isRegistered: false)
        try without.write { try $0.remove("a1") }
        try without.database.blocking.close()
        let between = try RelationshipStage(in: stage.folder)
        #expect(try between.count() == 1)
        try between.database.blocking.close()
        let again = try RelationshipStage(in: stage.folder, isRegistered: false)
        try again.write { try $0.set(GraphNode(), "a1") }
        try again.database.blocking.close()
        let later = try RelationshipStage(in: stage.folder)
        #expect(try later.count() == 2)
        try later.write { try $0.remove("a2") }
        #expect(try later.keys() == ["a1", "photo"])
    }
}
