import Dispatch
import SQLite
import Testing

@testable import Yap

/// What stands in the way of rules: objects that can't be read, closures that throw, files that stay, other versions.
@Suite struct RelationshipObstacleTests {
    private let folder: TestFolder
    private let files = MemoryFiles()

    init() throws { folder = try TestFolder() }

    private func stage(
        version: String = "1",
        _ whenEdgeDeleted: @escaping @Sendable (YapDatabaseEdgeDeletion) throws -> (any Sendable)? = { _ in
            nil
        }
    ) throws -> RelationshipStage {
        let graph = YapDatabaseRelationship(
            "graph", version: version, fileDeletion: files.deletion, whenEdgeDeleted: whenEdgeDeleted)
        return try RelationshipStage(graph, in: folder)
    }

    private let follow = YapDatabaseEdgeRules.deleteSourceIfDestinationDeleted

    // MARK: Other processes

    @Test func whatAnotherProcessRemovedFiresBeforeTheNextWrite() throws {
        let (stage, other) = (try stage(), try RelationshipStage.open(folder))
        stage.database.healing.isEnabled = false
        try stage.write { transaction in
            try transaction.set(GraphNode(), "owner")
            try transaction.set(GraphNode("owner", ["owner"], follow), "child")
        }
        try other.newConnection().blocking.readWrite { try $0.remove("owner") }
        let keys = try stage.write { try $0.keys() }
        #expect(keys == [])
        // Also when the write fails.
        try stage.write { transaction in
            try transaction.set(GraphNode(), "owner")
            try transaction.set(GraphNode("owner", ["owner"], follow), "child")
        }
        try other.newConnection().blocking.readWrite { try $0.remove("owner") }
        #expect(throws: Refused.self) { try stage.write { _ in throw Refused() } }
        #expect(try stage.keys() == [])
    }

    @Test func aRuleThatThrowsForAnotherProcessesRowsFailsNoWrite() throws {
        let refusing = try stage { _ in throw Refused() }
        refusing.database.healing.isEnabled = false
        let other = try RelationshipStage.open(folder).newConnection()
        try refusing.write { transaction in
            try transaction.set(GraphNode(), "owner")
            try transaction.set(GraphNode("owner", ["owner"], .notifyIfDestinationDeleted), "child")
            try transaction.set(GraphNode("owner", ["owner"], follow), "second")
        }
        try other.blocking.readWrite { try $0.remove("owner") }
        for number in 0..<3 { try refusing.write { try $0.set(GraphNode(), "\(number)") } }
        #expect(try refusing.keys() == ["0", "1", "2", "child"] && refusing.count() == 0)
        #expect(try refusing.read { try $0[refusing.graph].problems().map(\.row) } == [.node("child")])
    }

    @Test func aRuleThatThrowsForMissedRowsFailsNoRegistration() throws {
        let first = try stage()
        try first.write { transaction in
            try transaction.set(GraphNode(), "owner")
            try transaction.set(GraphNode("owner", ["owner"], .notifyIfDestinationDeleted), "child")
        }
        try first.database.blocking.close()
        let without = try RelationshipStage.open(folder)
        try without.newConnection().blocking.readWrite { try $0.remove("owner") }
        try without.blocking.close()
        let refusing = try stage { _ in throw Refused() }
        try refusing.write { try $0.set(GraphNode(), "any") }
        #expect(try refusing.keys() == ["any", "child"] && refusing.table("Pending") == 0)
    }

    // MARK: Objects that can't be read

    @Test func anObjectThatCannotBeReadDoesNotKeepAnotherRowFromBeingDeleted() throws {
        let log = Log()
        let stage = try stage { deletion in
            log.add(deletion.row.key)
            return nil
        }
        try stage.write { transaction in
            for key in ["owner", "source"] { try transaction.set(GraphNode(), key) }
            try transaction.set(GraphNode("owner", ["owner"], .notifyIfDestinationDeleted), "good")
            for key in ["bad", "deleted"] {
                let rules = key == "bad" ? YapDatabaseEdgeRules.notifyIfDestinationDeleted : follow
                try transaction.set(GraphNode("owner", ["owner"], rules), key)
            }
            try transaction.store.sqlite.execute(
                "UPDATE database2 SET data = x'ff' WHERE key IN ('bad', 'deleted')")
        }
        try stage.database.blocking.close()
        let again = try self.stage { deletion in
            log.add(deletion.row.key)
            return nil
        }
        try again.write { try $0.remove("owner") }
        #expect(try again.keys() == ["bad", "good", "source"] && again.count() == 0)
        #expect(log.lines == ["good"])
        #expect(try again.read { try $0[again.graph].problems().map(\.row) } == [.node("bad")])
    }

    // MARK: Files

    @Test func anObjectWithoutAFileHasAnEmptyText() throws {
        let database = try folder.open { $0.register(GraphNode.self, inCollection: "nodes") }
        let covers = YapDatabaseRelationship("covers", version: "1", fileDeletion: files.deletion) {
            $0.fileEdge("cover", \GraphNode.cover, in: "nodes")
        }
        try database.blocking.register(covers)
        let connection = database.newConnection()
        try connection.blocking.readWrite { transaction in
            for mark in [0, 7] { try transaction.set(GraphNode(mark: mark), "\(mark)") }
        }
        let edges = try connection.blocking.read { try $0[covers].edges().map(\.destination) }
        #expect(edges == [.file("7")])
    }

    @Test func aFileThatCanNeverBeDeletedIsGivenUp() throws {
        files.fail(true)
        for round in 1...RelationshipFiles.attemptsMax {
            let stage = try stage()
            if round == 1 {
                try stage.write { try $0.set(GraphNode(file: "one"), "a") }
                try stage.write { try $0.remove("a") }
            }
            stage.graph.files.work.wait()
            #expect(try stage.table("Files") == (round < RelationshipFiles.attemptsMax ? 1 : 0))
            let problems = try stage.read { try $0[stage.graph].problems().map(\.row.key) }
            #expect(problems == (round < RelationshipFiles.attemptsMax ? [] : ["one"]))
            try stage.database.blocking.close()
        }
        files.fail(false)
        let last = try stage()
        last.graph.files.work.wait()
        #expect(files.deleted == [])
    }

    @Test func theFilesThatCannotBeDeletedAreBounded() throws {
        files.fail(true)
        let stage = try stage()
        let count = RelationshipFiles.triedMax + 150
        try stage.write { transaction in
            try transaction.set(
                GraphNode((0..<count).map { .init(name: "f", to: "\($0)", rules: 8, isFile: true) }), "a")
        }
        try stage.write { try $0.remove("a") }
        stage.graph.files.work.wait()
        #expect(try stage.table("Files") == RelationshipFiles.triedMax)
    }

    // MARK: Versions

    @Test func rulesOfAnotherVersionDoNotFireAndThoseOfManualEdgesDo() throws {
        let rules = YapDatabaseEdgeRules.deleteDestinationIfAllSourcesDeleted
        let first = try stage()
        try first.registerSync()
        try first.fetch(isLast: false) { transaction in
            for key in ["a", "b", "from", "from by hand"] { try transaction.set(GraphNode(), key) }
            try transaction.set(GraphNode("to", ["a"], rules), "from")
            try transaction[first.graph].add(
                YapDatabaseEdge("to", from: .node("from by hand"), to: .node("b"), rules: rules))
        }
        try first.write { transaction in
            for key in ["from", "from by hand"] { try transaction.remove(key) }
        }
        #expect(try first.table("Pending") == 2)
        try first.database.blocking.close()
        let next = try stage(version: "2")
        try next.fetch { _ in }
        #expect(try next.keys() == ["a"])
    }

    /// What makes the tables those of the first format, beside which a later version may have left its own.
    private func downgrade(leavesTables: Bool) -> String {
        let drops = "DROP TABLE relationshipProblems_graph; DROP TABLE relationshipAbsent_graph;"
        return """
            DROP INDEX waiting_of_relationshipPending_graph;
            ALTER TABLE relationshipPending_graph DROP COLUMN is_waiting;
            ALTER TABLE relationshipFiles_graph DROP COLUMN attempts;
            \(leavesTables ? "" : drops)
            UPDATE yap2 SET data = CAST('1' AS BLOB) WHERE extension = 'graph' AND key = 'classVersion'
            """
    }

    @Test(arguments: [false, true]) func theTablesOfTheFirstFormatAreKept(leavesTables: Bool) throws {
        let first = try stage()
        files.fail(true)
        try first.write { transaction in
            try transaction.set(GraphNode(), "owner")
            try transaction.set(GraphNode("owner", ["owner"], follow), "child")
            try transaction.set(GraphNode(file: "one"), "file")
            try transaction[first.graph].add(
                YapDatabaseEdge("by hand", from: .node("owner"), to: .node("child")))
        }
        try first.write { try $0.remove("file") }
        first.graph.files.work.wait()
        try first.write { try $0.store.sqlite.execute(downgrade(leavesTables: leavesTables)) }
        try first.database.blocking.close()
        files.fail(false)
        let next = try stage()
        next.graph.files.work.wait()
        #expect(try next.count() == 2 && files.deleted == ["one"])
        #expect(try next.read { try $0[next.graph].problems() } == [])
        try next.write { try $0.remove("owner") }
        #expect(try next.keys() == [] && next.count() == 0)
    }

    @Test func edgesThatTheFirstFormatDroppedComeBackWithTheUpgrade() throws {
        let first = try stage()
        try first.write { transaction in
            for key in ["a1", "a2"] { try transaction.set(GraphNode(), key) }
            try transaction.set(
                GraphNode("in", ["a1", "a2"], .deleteSourceIfAllDestinationsDeleted), "photo")
        }
        try first.write { try $0.remove("a1") }
        try first.write { transaction in
            try transaction.store.sqlite.execute("DELETE FROM relationshipAbsent_graph")
            try transaction.set(GraphNode(), "a1")
        }
        #expect(try first.count() == 1)
        try first.write { try $0.store.sqlite.execute(downgrade(leavesTables: false)) }
        try first.database.blocking.close()
        let next = try stage()
        #expect(try next.count() == 2)
        try next.write { try $0.remove("a2") }
        #expect(try next.keys() == ["a1", "photo"])
    }

    // MARK: Order

    @Test func aCascadeRemovesRowsInTheOrderOfTheirNumbers() throws {
        let (stage, log) = (try stage(), Log())
        let hooks = YapDatabaseHooks(
            "hooks", of: GraphNode.self, in: "nodes", didRemove: { row, _ in log.add(row.key) })
        try stage.database.blocking.register(hooks)
        let keys = (0..<40).map { "\(($0 * 7) % 40)" }
        try stage.write { transaction in
            try transaction.set(GraphNode(), "owner")
            for key in keys { try transaction.set(GraphNode(), key) }
            // Edges in another order than the rows.
            for key in keys.sorted() { try transaction.set(GraphNode("owner", ["owner"], follow), key) }
        }
        try stage.write { try $0.remove("owner") }
        #expect(log.lines == ["owner"] + keys)
    }
}

extension GraphNode {
    /// A file for each mark but 0.
    fileprivate var cover: String { mark == 0 ? "" : "\(mark)" }
}
