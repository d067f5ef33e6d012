import ExtensionModel
import SQLite
import System
import TestSeed
import Testing

@testable import Yap

/// A row by its collection and key.
private struct Name: Hashable, Comparable {
    let collection: String
    let key: String

    static func < (left: Name, right: Name) -> Bool {
        (left.collection, left.key) < (right.collection, right.key)
    }
}

private typealias Model = UndoModel<Name, String>

extension Model {
    fileprivate static let groupsMax = 6
    fileprivate static let rowsPerGroupMax = 7

    fileprivate init() { self.init(groupsMax: Self.groupsMax, rowsPerGroupMax: Self.rowsPerGroupMax) }

    fileprivate mutating func clear(_ collection: String?) throws {
        try removeAll { collection == nil || $0.collection == collection }
    }
}

/// Random groups, undos, redos and writes of others against the model.
@Suite struct UndoModelTests {
    private static let collections = ["todos", "notes"]

    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private func open() throws -> UndoStage {
        try UndoStage(
            YapDatabaseUndo(
                "undo", in: Self.collections, groupsMax: Model.groupsMax,
                rowsPerGroupMax: Model.rowsPerGroupMax),
            in: folder)
    }

    @Test(arguments: TestSeed.values(count: 12))
    func theLogIsAsDictionariesHaveIt(seed: UInt64) throws {
        let random = SeededRandomSource(seed: seed)
        var stage = try open()
        var other = try open()
        var model = Model()
        for _ in 0..<120 {
            let before = model
            let fails = random.next(in: 0..<8) == 0
            let writer = random.next(in: 0..<4) == 0 ? other : stage
            try writer.write { transaction in
                for _ in 0...random.next(in: 0..<2) { try draw(random, writer, transaction, &model) }
                if fails { transaction.rollback() }
            }
            if fails { model = before }
            try check(model, writer.undo, random.next(in: 0..<2) == 0 ? stage : other)
            if random.next(in: 0..<20) == 0 {
                try stage.database.blocking.close()
                stage = try open()
            }
            if random.next(in: 0..<20) == 0 {
                try other.database.blocking.close()
                other = try open()
            }
        }
    }

    private func check(_ model: Model, _ undo: YapDatabaseUndo, _ stage: UndoStage) throws {
        try stage.connection.blocking.read { transaction in
            var rows: [Name: String] = [:]
            for row in try transaction.rows(Todo.self, metadata: Stamp.self, inCollection: "todos") {
                rows[Name(collection: "todos", key: row.key)] =
                    "\(row.object.title) \(row.metadata?.milliseconds ?? 0)"
            }
            for row in try transaction.objects(String.self, inCollection: "notes") {
                rows[Name(collection: "notes", key: row.key)] = row.object
            }
            #expect(rows == model.rows)
            let log = try transaction[stage.undo]
            #expect(try log.undoGroups().map(\.actionName) == model.undo.reversed().map(\.name))
            #expect(try log.redoGroups().map(\.actionName) == model.redo.reversed().map(\.name))
            let counts = try (log.undoGroups() + log.redoGroups()).map(\.changedRowsCount)
            #expect(counts == (model.undo.reversed() + model.redo.reversed()).map(\.changes.count))
            #expect(try stage.recordedRows() == counts.reduce(0, +))
        }
    }

    /// One step of a transaction.
    private func draw(
        _ random: SeededRandomSource, _ stage: UndoStage, _ transaction: YapDatabaseReadWriteTransaction,
        _ model: inout Model
    ) throws {
        let log = try transaction[stage.undo]
        switch random.next(in: 0..<12) {
        case 0...4:
            let name = "group \(random.next(in: 0..<1000))"
            let (writesCount, fails) = (random.next(in: 0..<6), random.next(in: 0..<8) == 0)
            let copy = model
            do {
                var trial = model
                try trial.group(name) { group in
                    try log.group(name) {
                        for _ in 0..<writesCount { try write(random, transaction, &group) }
                        if fails { throw Refused() }
                    }
                }
                model = trial
            } catch is Refused {
                model = copy
            } catch is UndoModelTooLarge {
                model = copy
            }
        case 5...7: try step(isUndo: true, skips: random.next(in: 0..<2) == 0, log, &model)
        case 8, 9: try step(isUndo: false, skips: random.next(in: 0..<2) == 0, log, &model)
        case 10 where random.next(in: 0..<10) == 0:
            try log.removeAll()
            (model.undo, model.redo) = ([], [])
        default: try write(random, transaction, &model)
        }
    }

    private func step(
        isUndo: Bool, skips: Bool, _ log: YapDatabaseUndoWriteTransaction, _ model: inout Model
    ) throws {
        let policy: YapDatabaseUndoPolicy = skips ? .skipChangedRows : .throwConflict
        let expected = model.step(isUndo: isUndo, skips: skips)
        func names(_ rows: [YapCollectionKey]) -> [Name] {
            rows.map { Name(collection: $0.collection, key: $0.key) }.sorted()
        }
        do {
            let result = try isUndo ? log.undo(policy) : log.redo(policy)
            #expect(result.map { names($0.skippedRows) } == expected)
        } catch let error as YapDatabaseUndoConflict {
            #expect(!skips && names(error.changedRows) == expected)
        }
    }

    /// One write of rows, in the database and in the model. What is too large in one is so in the other.
    private func write(
        _ random: SeededRandomSource, _ transaction: YapDatabaseReadWriteTransaction, _ model: inout Model
    ) throws {
        let collection = Self.collections[random.next(in: 0..<2)]
        let name = Name(collection: collection, key: "\(random.next(in: 0..<6))")
        // Few values, so that rows get their former ones again.
        let value = "v\(random.next(in: 0..<4))"
        let stamp = Int64(random.next(in: 0..<2))
        switch random.next(in: 0..<20) {
        case 0:
            try both(&model, { try $0.clear(nil) }) { try transaction.removeAllObjectsInAllCollections() }
        case 1, 2:
            try both(&model, { try $0.clear(collection) }) {
                try transaction.removeAllObjects(inCollection: collection)
            }
        case 3...7:
            try both(&model, { try $0.set(name, nil) }) {
                try transaction.removeObject(forKey: name.key, inCollection: collection)
            }
        case 8 where model.touched != nil:
            let copy = model
            do {
                try transaction.savepoint {
                    try write(random, transaction, &model)
                    throw Refused()
                }
            } catch is Refused {
                model = copy
            }
        default:
            let text = collection == "todos" ? "\(value) \(stamp)" : value
            try both(&model, { try $0.set(name, text) }) {
                if collection == "notes" { return try transaction.note(value, name.key) }
                if stamp == 0 { return try transaction.set(value, name.key) }
                try transaction.set(value, name.key, stamp: stamp)
            }
        }
    }

    private func both(
        _ model: inout Model, _ inModel: (inout Model) throws -> Void, _ inDatabase: () throws -> Void
    ) throws {
        var isTooLarge = false
        do { try inModel(&model) } catch is UndoModelTooLarge { isTooLarge = true }
        #expect(code(inDatabase) == (isTooLarge ? .undoGroupTooLarge : nil))
        if isTooLarge { throw UndoModelTooLarge() }
    }
}
