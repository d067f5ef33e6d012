import Testing

@testable import Yap

/// Relationships beside a sync, which stores what it fetches page by page.
@Suite struct RelationshipFetchTests {
    private typealias Rules = YapDatabaseEdgeRules

    private let stage: RelationshipStage

    init() throws {
        stage = try RelationshipStage()
        try stage.registerSync()
    }

    private func child(_ owner: String, _ rules: YapDatabaseEdgeRules = .deleteSourceIfDestinationDeleted)
        -> GraphNode
    {
        GraphNode("owner", [owner], rules)
    }

    private func reopened(_ version: String = "1") throws -> RelationshipStage {
        try stage.database.blocking.close()
        let again = try RelationshipStage(
            YapDatabaseRelationship("graph", version: version), in: stage.folder)
        try again.registerSync()
        return again
    }

    // MARK: Missing ends

    @Test func aFetchedRowWaitsForItsOwnerAndFollowsItLater() throws {
        try stage.fetch { transaction in
            try transaction.set(child("owner"), "child")
            try transaction[stage.graph].flush()
        }
        #expect(try stage.keys() == ["child"] && stage.count() == 1)
        // The app's own writes go on meanwhile.
        try stage.write { try $0.set(GraphNode(), "other") }
        try stage.write { try $0.set(child("owner"), "child") }
        #expect(try stage.keys() == ["child", "other"])
        let again = try reopened()
        #expect(try again.count() == 1)
        try again.fetch { try $0.set(GraphNode(), "owner") }
        try again.write { try $0.remove("owner") }
        #expect(try again.keys() == ["other"] && again.count() == 0)
    }

    @Test func theRulesOfTheAppsOwnRowsFireBesideRowsThatWait() throws {
        try stage.fetch { try $0.set(child("owner"), "fetched") }
        try stage.write { try $0.set(child("nobody"), "own") }
        try stage.write { try $0.set(child("owner"), "own too") }
        #expect(try stage.keys() == ["fetched"])
    }

    @Test(arguments: ["1", "2"]) func anEdgeWhoseOwnerNeverComesIsHarmless(_ version: String) throws {
        try stage.fetch { try $0.set(child("owner"), "child") }
        try stage.database.blocking.close()
        let without = try RelationshipStage(in: stage.folder, isRegistered: false)
        // After that it isn't known which rows were written without it.
        try without.write { transaction in
            try transaction.removeAllObjectsInAllCollections()
            try transaction.set(child("owner"), "child")
            try transaction.set(GraphNode(), "any")
        }
        try without.database.blocking.close()
        let again = try RelationshipStage(
            YapDatabaseRelationship("graph", version: version), in: stage.folder)
        try again.write { try $0.remove("any") }
        #expect(try again.keys() == ["child"] && again.count() == 1)
        try again.write { try $0.remove("child") }
        #expect(try again.count() == 0 && again.table("Pending") == 0)
    }

    @Test func aRelationshipThatIsNewBetweenTwoPagesFollowsTheOwner() throws {
        let stage = try RelationshipStage(isRegistered: false)
        try stage.fetch { try $0.set(child("owner"), "child") }
        try stage.database.blocking.register(stage.graph)
        #expect(try stage.count() == 1)
        try stage.fetch { try $0.set(GraphNode(), "owner") }
        try stage.write { try $0.remove("owner") }
        #expect(try stage.keys() == [])
    }

    @Test func aPageThatComesWhileTheRelationshipIsFilledIsKept() throws {
        let stage = try RelationshipStage(isRegistered: false)
        try stage.write { transaction in
            try transaction.set(GraphNode(), "child")
            for number in 0..<1_200 { try transaction.set(GraphNode(), "filler \(number)") }
        }
        let steps = try SteppedRegistration(stage.graph, "graph", in: stage.database)
        #expect(try steps.next() != nil)
        try stage.fetch { try $0.set(child("owner"), "child") }
        while let _ = try steps.next() {}
        try stage.write { try $0.set(GraphNode(), "any") }
        #expect(try stage.read { try $0.node("child") } != nil)
        try stage.fetch { try $0.set(GraphNode(), "owner") }
        try stage.write { try $0.remove("owner") }
        #expect(try stage.read { try $0.node("child") } == nil)
    }

    @Test func anOwnerThatCameWithoutTheRelationshipIsNoMissingOne() throws {
        try stage.fetch { try $0.set(child("owner"), "child") }
        try stage.database.blocking.close()
        let without = try RelationshipStage(in: stage.folder, isRegistered: false)
        try without.fetch { try $0.set(GraphNode(), "owner") }
        try without.database.blocking.close()
        let again = try RelationshipStage(in: stage.folder)
        try again.database.blocking.close()
        let other = try RelationshipStage(in: stage.folder, isRegistered: false)
        // Then it is unknown which rows went.
        try other.write { transaction in
            try transaction.removeAllObjectsInAllCollections()
            try transaction.set(child("owner"), "child")
        }
        try other.database.blocking.close()
        let last = try RelationshipStage(in: stage.folder)
        try last.write { try $0.set(GraphNode(), "any") }
        #expect(try last.keys() == ["any"])
    }

    @Test func aManualEdgeOfAFetchWaitsForBothEnds() throws {
        let edge = YapDatabaseEdge(
            "by hand", from: .node("a"), to: .node("b"), rules: .deleteDestinationIfSourceDeleted)
        try stage.fetch { try $0[stage.graph].add(edge) }
        try stage.fetch { try $0.set(GraphNode(), "b") }
        try stage.write { try $0.set(GraphNode(), "any") }
        #expect(try stage.count() == 1)
        try stage.fetch { try $0.set(GraphNode(), "a") }
        try stage.write { try $0.remove("a") }
        #expect(try stage.keys() == ["any"])
    }

    // MARK: Deletions that are fetched

    @Test func aFetchedDeletionFiresTheRules() throws {
        try stage.fetch { transaction in
            try transaction.set(GraphNode(), "owner")
            for key in ["a", "b"] { try transaction.set(child("owner"), key) }
        }
        try stage.fetch { transaction in
            try transaction.remove("owner")
            // The other device's own rule is on the same page.
            try transaction.remove("b")
        }
        #expect(try stage.keys() == [] && stage.count() == 0)
        try stage.fetch { try $0.remove("a") }
    }

    @Test func aRowThatAPageRemovesAndMakesAgainFiresNothing() throws {
        let parent = GraphNode("part", ["part"], .deleteDestinationIfSourceDeleted)
        let manual = YapDatabaseEdge(
            "by hand", from: .node("owner"), to: .node("part"), rules: .deleteDestinationIfSourceDeleted)
        try stage.fetch { transaction in
            for key in ["owner", "part"] { try transaction.set(GraphNode(), key) }
            for key in ["a", "b"] { try transaction.set(child("owner"), key) }
            try transaction.set(parent, "parent")
            try transaction[stage.graph].add(manual)
        }
        try stage.fetch { transaction in
            for key in ["owner", "parent"] { try transaction.remove(key) }
            try transaction.set(GraphNode(), "b")
            try transaction.set(GraphNode(), "owner")
            try transaction.set(parent, "parent")
        }
        #expect(try stage.keys() == ["a", "b", "owner", "parent", "part"])
        #expect(try stage.count() == 3)
        #expect(try stage.read { try $0[stage.graph].count(from: .node("b")) } == 0)
        try stage.write { try $0.remove("owner") }
        #expect(try stage.keys() == ["b", "parent"])
    }

    @Test func aRowThatAPageRemovesAndMakesAgainKeepsEdgesWithoutARule() throws {
        let manual = YapDatabaseEdge("by hand", from: .node("album"), to: .node("photo"))
        let back = YapDatabaseEdge("back", from: .node("photo"), to: .node("album"))
        try stage.fetch { transaction in
            try transaction.set(GraphNode(), "photo")
            try transaction.set(GraphNode("has", ["photo"], .deleteDestinationIfSourceDeleted), "album")
            try transaction.set(GraphNode("names", ["photo"]), "list")
            for edge in [manual, back] { try transaction[stage.graph].add(edge) }
        }
        try stage.fetch { transaction in
            try transaction.remove("photo")
            try transaction.set(GraphNode(), "photo")
        }
        let edges = try stage.read { try $0[stage.graph].edges() }
        #expect(edges.map(\.name).sorted() == ["back", "by hand", "has", "names"])
        try stage.fetch { try $0.remove("photo") }
        #expect(try stage.count() == 0 && stage.table("Pending") == 0)
        try stage.fetch { try $0.set(GraphNode(), "photo") }
        try stage.write { try $0.remove("album") }
        #expect(try stage.keys() == ["list"])
    }

    // MARK: Rules that count

    @Test func aRetainCountWaitsUntilAllPagesAreThere() throws {
        let rules = Rules.deleteDestinationIfAllSourcesDeleted
        try stage.fetch(isLast: false) { transaction in
            for key in ["kept", "lost", "again"] {
                try transaction.set(GraphNode(), key)
                try transaction.set(GraphNode("uses", [key], rules), "first of \(key)")
            }
        }
        try stage.write { transaction in
            for key in ["kept", "lost", "again"] { try transaction.remove("first of \(key)") }
        }
        #expect(try stage.keys() == ["again", "kept", "lost"] && stage.table("Pending") == 3)
        let again = try reopened()
        try again.write { try $0.set(GraphNode(), "any") }
        try again.write { transaction in
            try transaction.remove("again")
            try transaction.set(GraphNode(), "again")
        }
        #expect(try again.keys() == ["again", "any", "kept", "lost"])
        try again.fetch { try $0.set(GraphNode("uses", ["kept"], rules), "second") }
        #expect(try again.keys() == ["again", "any", "kept", "second"] && again.table("Pending") == 0)
        try again.write { try $0.remove("second") }
        #expect(try again.keys() == ["again", "any"])
    }

    @Test func theLastDestinationCountsOnlyWhenAllPagesAreThere() throws {
        let rules = Rules.deleteSourceIfAllDestinationsDeleted
        try stage.fetch(isLast: false) { transaction in
            try transaction.set(GraphNode(), "first")
            try transaction.set(GraphNode("of", ["first", "second"], rules), "several")
            try transaction.set(GraphNode("of", ["first"], rules), "one")
        }
        try stage.fetch(isLast: false) { try $0.remove("first") }
        #expect(try stage.keys() == ["one", "several"])
        try stage.fetch { try $0.set(GraphNode(), "second") }
        #expect(try stage.keys() == ["second", "several"])
    }

    /// A source that was the last one while more pages come.
    private func setWaiting(_ stage: RelationshipStage) throws {
        let rules = Rules.deleteDestinationIfAllSourcesDeleted
        try stage.fetch(isLast: false) { transaction in
            try transaction.set(GraphNode(), "to")
            try transaction.set(GraphNode("uses", ["to"], rules), "from")
        }
        try stage.write { try $0.remove("from") }
    }

    @Test(arguments: [false, true]) func rulesThatWaitForAnotherUsersPagesDoNotFire(relaunches: Bool) throws {
        try setWaiting(stage)
        try stage.write { try $0.setFetchedParts(ofExtension: "sync") { _ in true } }
        try stage.write { try $0.setFetchedParts(ofExtension: "sync") { $0 != "zone" } }
        #expect(try stage.keys() == ["to"])
        let later = relaunches ? try reopened() : stage
        // Those of the user who is signed in don't wait for them.
        try later.write { transaction in
            try transaction.set(GraphNode(), "own")
            try transaction.set(
                GraphNode("uses", ["own"], Rules.deleteDestinationIfAllSourcesDeleted), "user")
        }
        try later.write { try $0.remove("user") }
        #expect(try later.keys() == ["to"])
        // The former user is back.
        try later.write { try $0.setFetchedParts(ofExtension: "sync") { _ in true } }
        #expect(try later.keys() == ["to"])
        try later.fetch { _ in }
        #expect(try later.keys() == [] && later.table("Pending") == 0)
    }

    @Test func anotherUsersPagesDoNotDelayTheSignedInUsersRules() throws {
        try stage.write { try $0.setMoreRowsComing(true, inPart: "other", ofExtension: "sync") }
        try stage.write { try $0.setFetchedParts(ofExtension: "sync") { $0 != "other" } }
        try setWaiting(stage)
        let later = try reopened()
        try later.write { try $0.set(GraphNode(), "any") }
        #expect(try later.keys() == ["any", "to"])
        try later.fetch { _ in }
        #expect(try later.keys() == ["any"] && later.table("Pending") == 0)
    }

    @Test func rulesAreHeldWhereTheRelationshipIsNotRegistered() throws {
        try setWaiting(stage)
        try stage.database.blocking.close()
        let without = try RelationshipStage(in: stage.folder, isRegistered: false)
        try without.registerSync()
        try without.write { try $0.setFetchedParts(ofExtension: "sync") { $0 != "zone" } }
        try without.database.blocking.close()
        let later = try reopened()
        try later.write { try $0.set(GraphNode(), "any") }
        #expect(try later.keys() == ["any", "to"])
        try later.write { try $0.setFetchedParts(ofExtension: "sync") { _ in true } }
        try later.fetch { _ in }
        #expect(try later.keys() == ["any"])
    }

    @Test func rulesWaitInAProcessThatHasNoSync() throws {
        let rules = Rules.deleteDestinationIfAllSourcesDeleted
        try stage.fetch(isLast: false) { transaction in
            for key in ["kept", "lost"] {
                try transaction.set(GraphNode(), key)
                try transaction.set(GraphNode("uses", [key], rules), "first of \(key)")
            }
        }
        let other = try RelationshipStage(in: stage.folder)
        try other.write { transaction in
            for key in ["kept", "lost"] { try transaction.remove("first of \(key)") }
        }
        try other.write { try $0.set(GraphNode(), "any") }
        #expect(try other.keys() == ["any", "kept", "lost"] && other.table("Pending") == 2)
        try stage.fetch { try $0.set(GraphNode("uses", ["kept"], rules), "second") }
        #expect(try stage.keys() == ["any", "kept", "second"] && stage.table("Pending") == 0)
    }

    @Test func rulesDoNotWaitForASyncThatIsNoLongerThere() throws {
        try setWaiting(stage)
        try stage.database.blocking.close()
        let without = try RelationshipStage(in: stage.folder)
        try without.write { try $0.set(GraphNode(), "any") }
        #expect(try without.keys() == ["any", "to"])
        try without.database.blocking.unregister("sync")
        try without.write { try $0.set(GraphNode(), "any") }
        #expect(try without.keys() == ["any"] && without.table("Pending") == 0)
    }

    /// An edge without its destination counts while that may come, and not when it was deleted.
    @Test(arguments: [nil, "1", "2"])
    func anEdgeWhoseDestinationWasDeletedDoesNotCount(_ version: String?) throws {
        let photo = GraphNode("in", ["a1", "a2"], Rules.deleteSourceIfAllDestinationsDeleted)
        try stage.fetch { transaction in
            for key in ["a1", "a2"] { try transaction.set(GraphNode(), key) }
            try transaction.set(photo, "photo")
        }
        try stage.write { try $0.remove("a1") }
        #expect(try stage.count() == 1)
        var later = stage
        if let version {
            try stage.database.blocking.close()
            let without = try RelationshipStage(in: stage.folder, isRegistered: false)
            // After that it isn't known which rows were written without it.
            try without.write { transaction in
                try transaction.removeAllObjectsInAllCollections()
                try transaction.set(GraphNode(), "a2")
                try transaction.set(photo, "photo")
            }
            try without.database.blocking.close()
            later = try reopened(version)
        } else {
            try stage.fetch { try $0.set(photo, "photo") }
        }
        #expect(try later.count() == 1 && later.table("Absent") == 1)
        try later.write { try $0.set(GraphNode(), "a1") }
        #expect(try later.count() == 2)
        for key in ["a1", "a2"] { try later.write { try $0.remove(key) } }
        #expect(try later.keys() == [] && later.table("Absent") == 0)
    }

    // MARK: What can't be stored

    @Test func aPageIsStoredWithAnyEdgesOfItsObjects() throws {
        let long = String(repeating: "f", count: 4_097)
        let many = GraphNode("to", (0...100_000).map(String.init))
        let mistaken = GraphNode([
            .init(name: "file", to: long, rules: 0, isFile: true),
            .init(name: String(repeating: "n", count: 1_025), to: "a", rules: 0),
            .init(name: "rules", to: "a", rules: 64), .init(name: "good", to: "a", rules: 0),
        ])
        #expect(code { try stage.write { try $0.set(mistaken, "mistaken") } } == .invalidExtension)
        try stage.fetch { transaction in
            try transaction.set(many, "many")
            try transaction.set(mistaken, "mistaken")
            try transaction.set(GraphNode(), "a")
        }
        #expect(try stage.keys() == ["a", "many", "mistaken"])
        try stage.read { transaction in
            let relationship = try transaction[stage.graph]
            #expect(
                try relationship.count(named: "good") == 1 && relationship.count(from: .node("mistaken")) == 1
            )
            #expect(try relationship.count(from: .node("many")) == 100_000)
            let problems = try relationship.problems()
            #expect(problems.map(\.row) == [.node("mistaken"), .node("many")])
            #expect(problems[0].message.contains("the text of a file"))
        }
        // They are no obstacle to a registration that reads all objects either.
        try stage.write { try $0.remove("many") }
        let again = try reopened("2")
        #expect(try again.count() == 1)
    }

    @Test func aFirstRegistrationThrowsForAnObjectOfTheAppsOwn() throws {
        let stage = try RelationshipStage(isRegistered: false)
        let long = String(repeating: "f", count: 4_097)
        try stage.write { try $0.set(GraphNode(file: long), "mistaken") }
        #expect(code { try stage.database.blocking.register(stage.graph) } == .invalidExtension)
    }

    @Test func aRuleThatThrowsDoesNotStopAPage() throws {
        let strict = YapDatabaseRelationship("graph", version: "1") { _ in
        } whenEdgeDeleted: { deletion in
            if deletion.row.key == "bad" { throw Refused() }
            return GraphNode(mark: 7)
        }
        let stage = try RelationshipStage(strict)
        try stage.write { transaction in
            try transaction.set(GraphNode(), "owner")
            for key in ["a", "bad", "c"] {
                try transaction.set(child("owner", .notifyIfDestinationDeleted), key)
            }
            try transaction.set(child("owner"), "d")
        }
        #expect(throws: Refused.self) { try stage.write { try $0.remove("owner") } }
        try stage.fetch { try $0.remove("owner") }
        #expect(try stage.keys() == ["a", "bad", "c"])
        let marks = try stage.read { transaction in try ["a", "c"].map { try transaction.node($0)?.mark } }
        #expect(marks == [7, 7])
        #expect(try stage.read { try $0[strict].problems().map(\.row) } == [.node("bad")])
        try stage.write { try $0[strict].removeProblems() }
        #expect(try stage.read { try $0[strict].problems() } == [])
    }

    @Test func theNewestProblemsAreKept() throws {
        try stage.fetch { transaction in
            for number in 0..<150 {
                for _ in 0..<2 { try transaction.set(GraphNode(file: ""), "\(number)") }
            }
        }
        let problems = try stage.read { try $0[stage.graph].problems() }
        #expect(problems.map(\.row.key) == (50..<150).reversed().map(String.init))
    }

    @Test func aCascadeBackAndForthBetweenRelationshipsIsOneRound() throws {
        // Each follows every other edge.
        let even = YapDatabaseRelationship("even", version: "1")
        let odd = YapDatabaseRelationship("odd", version: "1")
        let stage = try RelationshipStage(even)
        try stage.database.blocking.register(odd)
        let count = YapDatabaseReadWriteTransaction.settlingRoundsMax * 4
        try stage.write { transaction in
            for number in 0...count { try transaction.set(GraphNode(mark: number), "\(number)") }
            for number in 0..<count {
                let edge = YapDatabaseEdge(
                    "next", from: .node("\(number)"), to: .node("\(number + 1)"),
                    rules: .deleteDestinationIfSourceDeleted)
                try transaction[number % 2 == 0 ? even : odd].add(edge)
            }
        }
        try stage.fetch { try $0.remove("0") }
        #expect(try stage.keys() == [])
    }
}

extension RelationshipStage {
    /// Registers what fetches.
    func registerSync() throws {
        try database.blocking.register(YapDatabaseHooks("sync", of: GraphNode.self, in: "nodes"))
    }

    /// Writes as a sync does that fetches a page.
    func fetch(isLast: Bool = true, _ body: (YapDatabaseReadWriteTransaction) throws -> Void) throws {
        try write { transaction in
            try transaction.noteFetchedRows(ofExtension: "sync")
            try transaction.setMoreRowsComing(!isLast, inPart: "zone", ofExtension: "sync")
            try body(transaction)
        }
    }
}
