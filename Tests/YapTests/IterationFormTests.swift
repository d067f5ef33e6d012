import Testing

@testable import Yap

/// Each form of reading several rows, while rows are added.
struct IterationFormTests {
    /// Reads rows, and calls a closure for each; true ends the loop.
    private typealias Visit = @Sendable (YapDatabaseReadTransaction, () throws -> Bool) throws -> Void

    private static func each(_ rows: some Sequence, _ body: () throws -> Bool) rethrows {
        for _ in rows where try body() { break }
    }

    private static let collections = ["notes", "todos"]

    /// Sequences, which read their rows as they are iterated.
    private static let sequences: [(name: String, visit: Visit)] = [
        ("keys", { try each($0.keys(inCollection: "todos"), $1) }),
        ("keys of several collections", { try each($0.keys(inCollections: collections), $1) }),
        ("keys of all collections", { try each($0.keysInAllCollections(), $1) }),
        ("objects", { try each($0.objects(Todo.self, inCollection: "todos"), $1) }),
        ("filtered objects", { try each($0.objects(Todo.self, inCollection: "todos") { $0 != "9" }, $1) }),
        (
            "objects of several collections",
            { try each($0.objects(Todo.self, inCollections: collections), $1) }
        ),
        ("objects of all collections", { try each($0.objectsInAllCollections(Todo.self), $1) }),
        ("metadata", { try each($0.metadata(Stamp.self, inCollection: "todos"), $1) }),
        (
            "metadata of several collections",
            { try each($0.metadata(Stamp.self, inCollections: collections), $1) }
        ),
        ("metadata of all collections", { try each($0.metadataInAllCollections(Stamp.self), $1) }),
        ("rows", { try each($0.rows(Todo.self, metadata: Stamp.self, inCollection: "todos"), $1) }),
        (
            "rows of several collections",
            { try each($0.rows(Todo.self, metadata: Stamp.self, inCollections: collections), $1) }
        ),
        (
            "rows of all collections",
            { try each($0.rowsInAllCollections(Todo.self, metadata: Stamp.self), $1) }
        ),
    ]

    /// Arrays, which are read before.
    private static let arrays: [(name: String, visit: Visit)] = [
        ("all collections", { try each($0.allCollections(), $1) }),
        ("collections of a key", { try each($0.allCollections(containingKey: "1"), $1) }),
        ("all keys", { try each($0.allKeys(inCollection: "todos"), $1) }),
        (
            "objects of keys",
            { try each($0.objects(Todo.self, forKeys: ["1", "2"], inCollection: "todos"), $1) }
        ),
        (
            "metadata of keys",
            { try each($0.metadata(Stamp.self, forKeys: ["1", "2"], inCollection: "todos"), $1) }
        ),
        (
            "rows of keys",
            {
                try each(
                    $0.rows(Todo.self, metadata: Stamp.self, forKeys: ["1", "2"], inCollection: "todos"), $1)
            }
        ),
    ]

    private let folder: TestFolder
    private let connection: YapDatabaseConnection

    init() throws {
        folder = try TestFolder()
        connection = try folder.open().newConnection()
        try connection.blocking.readWrite { transaction in
            for key in ["1", "2"] { try transaction.set("t", key) }
        }
    }

    /// Adds a row in the middle of the loop, and returns the error of the transaction.
    private func addingARow(_ visit: Visit, stops: Bool) -> YapDatabaseError.Code? {
        code {
            try connection.blocking.readWrite { transaction in
                try visit(transaction) {
                    try transaction.set("new", "3")
                    return stops
                }
            }
        }
    }

    private func keys() throws -> [String] {
        try connection.blocking.read { try $0.allKeys(inCollection: "todos") }
    }

    @Test(arguments: sequences.indices)
    func addingARowWhileASequenceIsReadFailsUnlessTheLoopEnds(index: Int) throws {
        #expect(addingARow(Self.sequences[index].visit, stops: false) == .mutatedDuringIteration)
        #expect(try keys() == ["1", "2"])
        #expect(addingARow(Self.sequences[index].visit, stops: true) == nil)
        #expect(try keys() == ["1", "2", "3"])
    }

    @Test(arguments: arrays.indices, [false, true])
    func rowsMayBeAddedWhileAnArrayOfRowsIsLookedAt(index: Int, stops: Bool) throws {
        #expect(addingARow(Self.arrays[index].visit, stops: stops) == nil)
        #expect(try keys() == ["1", "2", "3"])
    }

    @Test(arguments: sequences.indices) func aSequenceMayBeReadInsideItself(index: Int) throws {
        let visit = Self.sequences[index].visit
        var count = 0
        try connection.blocking.read { transaction in
            try visit(transaction) {
                try visit(transaction) {
                    count += 1
                    return false
                }
                return false
            }
        }
        #expect(count == 4)
    }
}
