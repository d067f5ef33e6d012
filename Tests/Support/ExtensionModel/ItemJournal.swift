import Yap

/// What a file says of the transactions that were committed: how many, and which extensions each could use. Each
/// transaction writes its own part, so one that isn't whole is noticed.
package enum ItemJournal {
    package static let collection = "journal"
    private static let countKey = "count"

    private struct Refused: Error {}

    /// Number of transactions in the file.
    package static func count(_ transaction: YapDatabaseReadTransaction) throws -> Int {
        try transaction.object(Int.self, forKey: countKey, inCollection: collection) ?? 0
    }

    /// Writes the next transaction.
    ///
    /// - Returns: Its number.
    @discardableResult
    package static func write(
        _ draw: ItemDraw, _ extensions: ItemExtensions, _ transaction: YapDatabaseReadWriteTransaction
    ) throws -> Int {
        let number = try count(transaction) + 1
        var parts = ItemModel.Parts()
        if (try? transaction[extensions.undo]) != nil { parts.insert(.undo) }
        if (try? transaction[extensions.board]) != nil { parts.insert(.board) }
        for operation in draw.operations(number) { try run(operation, extensions, transaction) }
        try note(number, parts, transaction)
        return number
    }

    /// Writes a transaction that only says which extensions were unregistered before.
    package static func noteForgotten(
        _ parts: ItemModel.Parts, _ transaction: YapDatabaseReadWriteTransaction
    ) throws {
        if !parts.isEmpty { try note(count(transaction) + 1, parts, transaction) }
    }

    private static func note(
        _ number: Int, _ parts: ItemModel.Parts, _ transaction: YapDatabaseReadWriteTransaction
    ) throws {
        try transaction.setObject(number, forKey: countKey, inCollection: collection)
        try transaction.setObject(parts.rawValue, forKey: "\(number)", inCollection: collection)
    }

    /// The extensions that a transaction could use.
    static func parts(_ number: Int, _ transaction: YapDatabaseReadTransaction) throws -> ItemModel.Parts? {
        try transaction.object(Int.self, forKey: "\(number)", inCollection: collection)
            .map(ItemModel.Parts.init(rawValue:))
    }

    private static func run(
        _ operation: ItemOperation, _ extensions: ItemExtensions,
        _ transaction: YapDatabaseReadWriteTransaction
    ) throws {
        let collection = ModelItem.collection
        switch operation {
        case .set(let key, let item): try transaction.setObject(item, forKey: key, inCollection: collection)
        case .remove(let key): try transaction.removeObject(forKey: key, inCollection: collection)
        case .removeAll(false): try transaction.removeAllObjects(inCollection: collection)
        case .removeAll(true):
            let journal = try transaction.objects(Int.self, inCollection: Self.collection).map {
                ($0.key, $0.object)
            }
            try transaction.removeAllObjectsInAllCollections()
            for (key, value) in journal {
                try transaction.setObject(value, forKey: key, inCollection: Self.collection)
            }
        case .savepoint(let rows, let fails):
            try passing { try transaction.savepoint { try run(rows, fails, extensions, transaction) } }
        case .group(let name, let rows, let fails):
            guard let undo = try? transaction[extensions.undo] else {
                return try run(.savepoint(rows, fails: fails), extensions, transaction)
            }
            try passing { try undo.group(name) { try run(rows, fails, extensions, transaction) } }
        case .undo: try (try? transaction[extensions.undo])?.undo(.skipChangedRows)
        case .redo: try (try? transaction[extensions.undo])?.redo(.skipChangedRows)
        case .insert(let key, let index, let group):
            try (try? transaction[extensions.board])?.insert(key, at: index, in: group)
        case .move(let key, let index, let group):
            try (try? transaction[extensions.board])?.move(key, to: index, in: group)
        case .takeOff(let key): try (try? transaction[extensions.board])?.remove(key)
        case .search: try (try? transaction[extensions.results])?.search(.words(ModelItem.words[0]))
        case .searchBoard:
            try (try? transaction[extensions.boardResults])?.search(.words(ModelItem.words[0]))
        }
    }

    private static func run(
        _ rows: [ItemOperation], _ fails: Bool, _ extensions: ItemExtensions,
        _ transaction: YapDatabaseReadWriteTransaction
    ) throws {
        for row in rows { try run(row, extensions, transaction) }
        if fails { throw Refused() }
    }

    private static func passing(_ body: () throws -> Void) throws {
        do { try body() } catch is Refused {}
    }
}

/// The model of a file, which goes from one of its snapshots to a later one.
package struct ItemReplay: Sendable {
    private let draw: ItemDraw
    package var model = ItemModel()
    /// Number of transactions that it has.
    package private(set) var count = 0

    package init(_ draw: ItemDraw) { self.draw = draw }

    /// Goes to the snapshot, and compares the extensions with it.
    ///
    /// - Returns: The differences, in words.
    package mutating func differences(
        _ extensions: ItemExtensions, _ transaction: YapDatabaseReadTransaction, requiresAll: Bool = false
    ) throws -> [String] {
        let last = try ItemJournal.count(transaction)
        guard last >= count else { return ["\(last) transactions, and \(count) before"] }
        while count < last {
            count += 1
            guard let parts = try ItemJournal.parts(count, transaction) else {
                return ["transaction \(count) of \(last) is not in the journal"]
            }
            model.apply(draw.operations(count), parts)
        }
        let journal = try transaction.numberOfKeys(inCollection: ItemJournal.collection)
        guard journal == (last == 0 ? 0 : last + 1) else {
            return ["the journal has \(journal) rows for \(last) transactions"]
        }
        let found = try model.differences(extensions, transaction, requiresAll: requiresAll)
        if found.isEmpty, !model.board.isKnown,
            let board = try? ItemModel.keys(try transaction[extensions.board])
        {
            model.adoptBoard(board)
        }
        return found
    }
}
