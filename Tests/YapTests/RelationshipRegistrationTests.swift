import Dispatch
import System
import Testing

@testable import Yap

/// Where the edges of a relationship come from, and what it has after registrations.
@Suite struct RelationshipRegistrationTests {
    private struct Book: Codable, Sendable, Equatable {
        var author: String?
        var topics: [String] = []
        var cover = "cover"
    }

    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private func open() throws -> YapDatabase {
        try folder.open {
            $0.register(Book.self, inCollection: "books")
            $0.register(GraphNode.self, inCollection: "nodes")
        }
    }

    private func owns(version: String = "1", rules: YapDatabaseEdgeRules = .deleteSourceIfDestinationDeleted)
        -> YapDatabaseRelationship
    {
        YapDatabaseRelationship("owns", version: version, in: ["books", "notes"]) {
            $0.edge("author", \Book.author, in: "books", to: "notes", rules: rules)
            $0.edge("topic", \Book.topics, in: "books", to: "notes")
        }
    }

    private func setBooks(_ transaction: YapDatabaseReadWriteTransaction) throws {
        try transaction.setObject(
            Book(author: "hugo", topics: ["x", "y", "x"]), forKey: "1", inCollection: "books")
        try transaction.setObject(Book(author: nil), forKey: "2", inCollection: "books")
        try transaction.setObject(Book(author: "zola"), forKey: "3", inCollection: "books")
        for key in ["hugo", "zola", "x"] {
            try transaction.setObject("text", forKey: key, inCollection: "notes")
        }
    }

    private func edges(_ database: YapDatabase, _ owns: YapDatabaseRelationship) throws -> [String] {
        try database.newConnection().blocking.read { transaction in
            try transaction[owns].edges().map { edge in
                guard case .row(let row) = edge.destination else { return "file" }
                return "\(edge.name) \(edge.source.key) \(row.key)"
            }.sorted()
        }
    }

    private func write(_ database: YapDatabase, _ body: (YapDatabaseReadWriteTransaction) throws -> Void)
        throws
    {
        try database.newConnection().blocking.readWrite(body)
    }

    @Test func propertiesHaveEdges() throws {
        let (database, owns) = (try open(), owns())
        try database.blocking.register(owns)
        try write(database, setBooks)
        #expect(try edges(database, owns) == ["author 1 hugo", "author 3 zola", "topic 1 x"])
        try write(database) {
            try $0.replaceObject(Book(author: "zola", topics: ["x"]), forKey: "1", inCollection: "books")
        }
        #expect(try edges(database, owns) == ["author 1 zola", "author 3 zola", "topic 1 x"])
        try write(database) { try $0.removeObject(forKey: "zola", inCollection: "notes") }
        #expect(try edges(database, owns) == [])
        #expect(try database.newConnection().blocking.read { try $0.allKeys(inCollection: "books") } == ["2"])
    }

    @Test func aRegistrationGivesStoredObjectsTheirEdgesAndDeletesNothing() throws {
        let (database, owns) = (try open(), owns())
        try write(database) { transaction in
            try setBooks(transaction)
            try transaction.removeObject(forKey: "zola", inCollection: "notes")
        }
        try database.blocking.register(owns)
        #expect(try edges(database, owns) == ["author 1 hugo", "topic 1 x"])
        try write(database) { try $0.setObject("z", forKey: "zola", inCollection: "notes") }
        let keys = try database.newConnection().blocking.read { try $0.allKeys(inCollection: "books") }
        #expect(keys.sorted() == ["1", "2", "3"])
        try write(database) { try $0.removeObject(forKey: "hugo", inCollection: "notes") }
        #expect(try edges(database, owns) == ["author 3 zola"])
    }

    @Test func manualEdgesOutliveAnotherVersionAndOtherDeclarations() throws {
        var database = try open()
        let first = owns()
        let manual = YapDatabaseEdge(
            "by hand", from: YapCollectionKey(collection: "books", key: "2"), to: .row("x", in: "notes"))
        try database.blocking.register(first)
        try write(database) { transaction in
            try setBooks(transaction)
            try transaction[first].add(manual)
        }
        for next in [owns(), owns(version: "2"), owns(version: "2", rules: [])] {
            try database.blocking.close()
            database = try open()
            try database.blocking.register(next)
            #expect(
                try edges(database, next) == ["author 1 hugo", "author 3 zola", "by hand 2 x", "topic 1 x"])
        }
        // The rules are those of the last declaration.
        try write(database) { try $0.removeObject(forKey: "hugo", inCollection: "notes") }
        let keys = try database.newConnection().blocking.read { try $0.allKeys(inCollection: "books") }
        #expect(keys.count == 3)
        try database.blocking.unregister("owns")
        #expect(code { _ = try edges(database, first) } == .extensionNotRegistered)
    }

    @Test func rowsThatAreRemovedWhileItIsNotRegisteredCountAsDeleted() throws {
        var database = try open()
        try database.blocking.register(owns())
        try write(database, setBooks)
        try database.blocking.close()
        database = try open()
        try write(database) { transaction in
            try transaction.removeObject(forKey: "hugo", inCollection: "notes")
            // A changed row is handed over as removed and filled again.
            try transaction.setObject("changed", forKey: "zola", inCollection: "notes")
            try transaction.setObject(
                Book(author: "zola", topics: ["x"]), forKey: "4", inCollection: "books")
        }
        let owns = owns()
        try database.blocking.register(owns)
        #expect(try edges(database, owns) == ["author 3 zola", "author 4 zola", "topic 4 x"])
        try write(database) { try $0.setObject("", forKey: "any", inCollection: "notes") }
        let keys = try database.newConnection().blocking.read { try $0.allKeys(inCollection: "books") }
        #expect(keys.sorted() == ["2", "3", "4"])
    }

    @Test func rowsThatAreUnknownlyRemovedCountAsDeletedToo() throws {
        var database = try open()
        try database.blocking.register(owns())
        try write(database, setBooks)
        try database.blocking.close()
        database = try open()
        try write(database) { transaction in
            let book = try transaction.object(Book.self, forKey: "1", inCollection: "books")
            try transaction.removeAllObjectsInAllCollections()
            try transaction.setObject(book ?? Book(), forKey: "1", inCollection: "books")
        }
        let owns = owns()
        try database.blocking.register(owns)
        try write(database) { try $0.setObject("", forKey: "any", inCollection: "notes") }
        #expect(try edges(database, owns) == [])
        #expect(try database.newConnection().blocking.read { try $0.allKeys(inCollection: "books") } == [])
    }

    @Test func rulesWaitUntilAllRowsAreHandedOver() throws {
        let database = try open()
        // The shared row is before its sources, whose edges are in two batches.
        try write(database) { transaction in
            try transaction.set(GraphNode(), "shared")
            for number in 0..<600 {
                try transaction.set(
                    GraphNode("uses", ["shared"], .deleteDestinationIfAllSourcesDeleted), "\(number)")
            }
            try transaction.set(GraphNode("end", ["last"], .deleteSourceIfDestinationDeleted), "first")
            for number in 0..<600 { try transaction.set(GraphNode(), "filler \(number)") }
            try transaction.set(GraphNode(), "last")
        }
        let graph = YapDatabaseRelationship("graph", version: "1")
        let steps = try SteppedRegistration(graph, "graph", in: database)
        #expect(try steps.next() != nil)
        try write(database) { transaction in
            for number in 0..<499 { try transaction.remove("\(number)") }
        }
        #expect(try database.newConnection().blocking.read { try $0.node("shared") } != nil)
        while let _ = try steps.next() {
            // A row behind the batches is removed, of which it doesn't hear.
            try write(database) { try $0.remove("last") }
        }
        try write(database) { try $0.set("note", "any") }
        let keys = try database.newConnection().blocking.read { try $0.keys() }
        #expect(keys.contains("shared") && !keys.contains("first"))
        try write(database) { transaction in
            for number in 499..<600 { try transaction.remove("\(number)") }
        }
        #expect(try database.newConnection().blocking.read { try $0.node("shared") } == nil)
    }

    @Test func mistakesAreRefused() throws {
        let database = try open()
        let wrongType = YapDatabaseRelationship("r", version: "1") {
            $0.edge("author", \Book.author, in: "notes", to: "books")
        }
        #expect(code { try database.blocking.register(wrongType) } == .typeMismatch)
        let unknown = YapDatabaseRelationship("r", version: "1") {
            $0.edge("author", \Book.author, in: "books", to: "nowhere")
        }
        #expect(code { try database.blocking.register(unknown) } == .missingRegistration)
        let outside = YapDatabaseRelationship("r", version: "1", in: ["books"]) {
            $0.edge("author", \Book.author, in: "books", to: "notes")
        }
        #expect(code { try database.blocking.register(outside) } == .invalidExtension)
        let owns = owns()
        try database.blocking.register(owns)
        let book = YapCollectionKey(collection: "books", key: "1")
        for edge in [
            YapDatabaseEdge(String(repeating: "n", count: 1_025), from: book, to: .row("x", in: "notes")),
            YapDatabaseEdge("n", from: book, to: .row("x", in: "todos")),
            YapDatabaseEdge("n", from: .node("a"), to: .row("x", in: "notes")),
            YapDatabaseEdge(
                "n", from: book, to: .row("x", in: "notes"), rules: YapDatabaseEdgeRules(rawValue: 64)),
        ] {
            try write(database) { transaction in
                #expect(code { try transaction[owns].add(edge) } == .invalidExtension)
            }
        }
        #expect(
            code {
                try write(database) {
                    try $0.setObject(
                        Book(topics: (0...100_000).map(String.init)), forKey: "1", inCollection: "books")
                }
            } == .invalidExtension)
    }

    @Test func fileEdgesOfAProperty() throws {
        let (database, files) = (try open(), MemoryFiles())
        let covers = YapDatabaseRelationship("covers", version: "1", fileDeletion: files.deletion) {
            $0.fileEdge("cover", \Book.cover, in: "books")
        }
        try database.blocking.register(covers)
        try write(database, setBooks)
        try write(database) { try $0.removeAllObjects(inCollection: "books") }
        covers.files.work.wait()
        #expect(files.deleted == ["cover"])
    }

    // MARK: Transactions

    @Test func namesThatLookAlikeOrAreHostileAreDifferent() throws {
        let stage = try RelationshipStage(
            YapDatabaseRelationship("a\"'; DROP TABLE database2; --", version: "1"), in: folder)
        let names = ["é", "e\u{301}", "\"'; --", "", "a\0b"]
        try stage.write { transaction in
            try transaction.set(
                GraphNode(names.map { .init(name: $0, to: $0, rules: 8) }), "parent")
            for name in names { try transaction.set(GraphNode(), name) }
        }
        try stage.read { transaction in
            let graph = try transaction[stage.graph]
            #expect(try graph.count() == 5)
            for name in names {
                #expect(try graph.edges(named: name, to: .node(name)).count == 1)
                #expect(try graph.count(named: name) == 1 && graph.count(to: .node(name)) == 1)
            }
        }
        try stage.write { try $0.remove("é") }
        #expect(try stage.count() == 4)
        try stage.write { try $0.remove("parent") }
        #expect(try stage.keys() == [])
    }

    @Test func readersSeeTheEdgesOfTheirSnapshot() throws {
        let stage = try RelationshipStage(in: folder)
        try stage.write { transaction in
            try transaction.set(GraphNode("l", ["b"]), "a")
            try transaction.set(GraphNode(), "b")
        }
        try stage.read { transaction in
            #expect(try transaction[stage.graph].count() == 1)
            try stage.write { try $0.remove("b") }
            #expect(try transaction[stage.graph].count() == 1)
        }
        #expect(try stage.count() == 0)
    }

    @Test func aRollbackOrASavepointUndoesEdgesAndRules() throws {
        let stage = try RelationshipStage(in: folder)
        let graph = stage.graph
        try stage.write { transaction in
            try transaction.set(GraphNode("l", ["b"], .deleteDestinationIfSourceDeleted), "a")
            for key in ["b", "c"] { try transaction.set(GraphNode(), key) }
        }
        try? stage.write { transaction in
            try transaction.remove("a")
            try transaction[graph].flush()
            throw Refused()
        }
        #expect(try stage.keys() == ["a", "b", "c"] && stage.count() == 1)
        try stage.write { transaction in
            try? transaction.savepoint {
                try transaction.remove("a")
                throw Refused()
            }
            try? transaction.savepoint {
                try transaction.remove("a")
                try transaction[graph].flush()
                #expect(try transaction.keys() == ["c"])
                throw Refused()
            }
            #expect(try transaction.keys() == ["a", "b", "c"] && transaction[graph].count() == 1)
            try transaction[graph].flush()
        }
        #expect(try stage.keys() == ["a", "b", "c"] && stage.count() == 1)
    }

    @Test func aQueryIsObservedByTheEdgesThatItFinds() throws {
        let stage = try RelationshipStage(in: folder)
        let graph = stage.graph
        try stage.write { transaction in
            try transaction.set(GraphNode("l", ["b"]), "a")
            for key in ["b", "c"] { try transaction.set(GraphNode(), key) }
        }
        func isObserved(_ write: (YapDatabaseReadWriteTransaction) throws -> Void) throws -> [Bool] {
            let queries: [(YapDatabaseReadTransaction) throws -> Void] = [
                { _ = try $0[graph].destinations(named: "l", of: .node("a")) },
                { _ = try $0[graph].count(to: .node("b")) }, { _ = try $0[graph].count(named: "m") },
                { _ = try $0[graph].edges() },
            ]
            let dependencies = try queries.map { try stage.connection.dependencies($0) }
            let commit = try stage.database.commit(write)
            return dependencies.map { $0.areChanged(by: commit) }
        }
        #expect(
            try isObserved { try $0.set(GraphNode("m", ["b"]), "c") } == [false, true, true, true])
        #expect(try isObserved { try $0.set(GraphNode("m", ["b"]), "c") } == [false, false, false, false])
        #expect(
            try isObserved { transaction in
                try? transaction.savepoint {
                    try transaction.remove("b")
                    throw Refused()
                }
                try transaction.set("any", "todo")
            } == [false, false, false, false])
        #expect(
            try isObserved { try $0[graph].add(YapDatabaseEdge("l", from: .node("a"), to: .node("c"))) }
                == [true, false, false, true])
        #expect(try isObserved { try $0.remove("a") } == [true, true, false, true])
        #expect(
            try isObserved { try $0.removeAllObjectsInAllCollections() } == [true, true, true, true])
    }
}
