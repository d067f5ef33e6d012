import System
import Testing

@testable import Yap

/// A proxy of rows with metadata.
struct ProxyMetadataTests {
    private let folder: TestFolder
    private let database: YapDatabase
    private let connection: YapDatabaseConnection
    private let proxy: YapDatabaseProxy<Todo>
    /// Called once, while an object is stored: in the transaction, before it commits.
    private let whileStoring = Lock<(@Sendable () -> Void)?>(nil)

    init() throws {
        folder = try TestFolder()
        database = try folder.open { [whileStoring] in
            $0.preSanitize(Todo.self, inCollection: "todos") { _, _, object in
                let body = whileStoring.withLock { body in
                    defer { body = nil }
                    return body
                }
                body?()
                return object
            }
        }
        connection = database.newConnection()
        proxy = try YapDatabaseProxy(connection, in: "todos")
    }

    /// Runs `body` while no change of the proxy can be written.
    private func holdingWriter(_ body: () throws -> Void) throws {
        try database.newConnection().blocking.readWrite { _ in try body() }
    }

    /// What the proxy reads, and what a transaction reads after a flush.
    private func row(_ key: String) throws -> String {
        guard let row = try proxy.blocking.row(metadata: Stamp.self, forKey: key) else {
            #expect(try proxy.blocking.object(forKey: key) == nil)
            #expect(try proxy.blocking.metadata(Stamp.self, forKey: key) == nil)
            return "none"
        }
        #expect(try proxy.blocking.object(forKey: key) == row.object)
        #expect(try proxy.blocking.metadata(Stamp.self, forKey: key) == row.metadata)
        return "\(row.object.title) \(row.metadata?.milliseconds ?? 0)"
    }

    private func stored(_ key: String) throws -> String {
        try proxy.blocking.flush()
        let row = try database.newConnection().blocking.read {
            try $0.row(Todo.self, metadata: Stamp.self, forKey: key, inCollection: "todos")
        }
        return row.map { "\($0.object.title) \($0.metadata?.milliseconds ?? 0)" } ?? "none"
    }

    @Test func objectAndMetadataAreReadWhilePendingAndWritten() throws {
        try holdingWriter {
            try proxy.setObject(Todo(title: "a"), metadata: Stamp(milliseconds: 1), forKey: "a")
            try proxy.setObject(Todo(title: "b"), forKey: "b")
            #expect(try row("a") == "a 1")
            #expect(try row("b") == "b 0")
        }
        #expect(try stored("a") == "a 1")
        #expect(try stored("b") == "b 0")
        // Set without metadata, the row has none.
        try proxy.setObject(Todo(title: "c"), forKey: "a")
        #expect(try stored("a") == "c 0")
    }

    @Test func aReplacementSetsAPartOfARowAndNoRowThatDoesNotExist() throws {
        try proxy.setObject(Todo(title: "a"), metadata: Stamp(milliseconds: 1), forKey: "a")
        try proxy.blocking.flush()
        try holdingWriter {
            try proxy.replaceObject(Todo(title: "b"), forKey: "a")
            #expect(try row("a") == "b 1")
            try proxy.replaceObject(Todo(title: "x"), forKey: "none")
            try proxy.replaceMetadata(Stamp(milliseconds: 9), forKey: "none")
            #expect(try row("none") == "none")
        }
        #expect(try stored("a") == "b 1")
        #expect(try stored("none") == "none")
        try holdingWriter {
            try proxy.replaceMetadata(Stamp(milliseconds: 2), forKey: "a")
            #expect(try row("a") == "b 2")
        }
        #expect(try stored("a") == "b 2")
        try proxy.replaceMetadata(nil as Stamp?, forKey: "a")
        #expect(try stored("a") == "b 0")
    }

    @Test func pendingChangesOfOneRowAreCombinedInTheirOrder() throws {
        try proxy.setObject(Todo(title: "old"), metadata: Stamp(milliseconds: 7), forKey: "e")
        try proxy.blocking.flush()
        try holdingWriter {
            // Set, and parts of it replaced.
            try proxy.setObject(Todo(title: "a"), metadata: Stamp(milliseconds: 1), forKey: "a")
            try proxy.replaceMetadata(Stamp(milliseconds: 2), forKey: "a")
            try proxy.setObject(Todo(title: "b"), metadata: Stamp(milliseconds: 1), forKey: "b")
            try proxy.replaceObject(Todo(title: "bb"), forKey: "b")
            // Nothing to replace after a removal.
            try proxy.setObject(Todo(title: "c"), forKey: "c")
            try proxy.removeObject(forKey: "c")
            try proxy.replaceObject(Todo(title: "cc"), forKey: "c")
            // Two parts, and a row that is set after all.
            try proxy.replaceObject(Todo(title: "d"), forKey: "e")
            try proxy.replaceMetadata(Stamp(milliseconds: 3), forKey: "e")
            try proxy.replaceMetadata(Stamp(milliseconds: 4), forKey: "f")
            try proxy.setObject(Todo(title: "f"), forKey: "f")
            #expect(try ["a", "b", "c", "e", "f"].map(row) == ["a 2", "bb 1", "none", "d 3", "f 0"])
        }
        #expect(try ["a", "b", "c", "e", "f"].map(stored) == ["a 2", "bb 1", "none", "d 3", "f 0"])
    }

    @Test func aReplacementCountsForAChangeThatIsBeingWritten() throws {
        let (proxy, seen) = (proxy, Log())
        whileStoring.withLock { body in
            body = {
                try? proxy.replaceMetadata(Stamp(milliseconds: 2), forKey: "a")
                let row = try? proxy.blocking.row(metadata: Stamp.self, forKey: "a")
                seen.add("\(row?.object.title ?? "none") \(row?.metadata?.milliseconds ?? 0)")
            }
        }
        try proxy.setObject(Todo(title: "a"), metadata: Stamp(milliseconds: 1), forKey: "a")
        try proxy.blocking.flush()
        #expect(seen.lines == ["a 2"])
        #expect(try stored("a") == "a 2")
    }

    @Test func nothingIsReplacedAfterAllObjectsWereRemoved() throws {
        try proxy.setObject(Todo(title: "a"), forKey: "a")
        try proxy.blocking.flush()
        try holdingWriter {
            try proxy.removeAllObjects()
            try proxy.replaceMetadata(Stamp(milliseconds: 2), forKey: "a")
            #expect(try row("a") == "none")
        }
        #expect(try stored("a") == "none")
    }

    @Test func metadataOfAnotherTypeIsRefusedAtOnce() throws {
        #expect(code { try proxy.setObject(Todo(title: "a"), metadata: 1, forKey: "a") } == .typeMismatch)
        #expect(code { try proxy.replaceMetadata("x", forKey: "a") } == .typeMismatch)
        #expect(code { _ = try proxy.blocking.metadata(Int.self, forKey: "a") } == .typeMismatch)
        let notes = try YapDatabaseProxy<String>(connection, in: "notes")
        #expect(code { try notes.replaceMetadata(1, forKey: "a") } == .missingRegistration)
        #expect(try row("a") == "none")
    }

    @Test func asynchronousFormsReadTheSame() async throws {
        try proxy.setObject(Todo(title: "a"), metadata: Stamp(milliseconds: 1), forKey: "a")
        #expect(try await proxy.metadata(Stamp.self, forKey: "a") == Stamp(milliseconds: 1))
        let row = try await proxy.row(metadata: Stamp.self, forKey: "a")
        #expect(row?.object.title == "a" && row?.metadata == Stamp(milliseconds: 1))
        #expect(try await proxy.row(metadata: Stamp.self, forKey: "none") == nil)
        try await database.close()
    }
}
