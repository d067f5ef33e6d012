import System
import TestSeed
import Testing

@testable import Yap

/// Random writes of two instances beside a plain model of what changed since each token.
struct ChangeReaderModelTests {
    /// A token, and what a plain list has of the rows since.
    private struct Moment {
        let token: YapDatabaseChangeToken
        var touched: Set<YapCollectionKey> = []
        var isLost = false
    }

    private final class Stage {
        let folder: TestFolder
        let random: SeededRandomSource
        var databases: [YapDatabase] = []
        var rows: Set<YapCollectionKey> = []
        var moments: [Moment] = []

        init(seed: UInt64) throws {
            folder = try TestFolder()
            random = SeededRandomSource(seed: seed)
            databases = [try folder.open(), try folder.open()]
            try databases[0].blocking.registerChangeReader("export")
        }

        var connection: YapDatabaseConnection { databases[random.next(in: 0..<2)].newConnection() }

        var name: YapCollectionKey {
            let isTodo = random.next(in: 0..<3) > 0
            return YapCollectionKey(collection: isTodo ? "todos" : "notes", key: "\(random.next(in: 0..<12))")
        }

        func touch(_ names: some Sequence<YapCollectionKey>) {
            for index in moments.indices { moments[index].touched.formUnion(names) }
        }

        /// One write, here and in the model.
        func write(_ transaction: YapDatabaseReadWriteTransaction) throws {
            let name = name
            switch random.next(in: 0..<20) {
            case 0..<9:
                if name.collection == "todos" {
                    try transaction.set("\(random.next(in: 0..<9))", name.key)
                } else {
                    try transaction.setObject("text", forKey: name.key, inCollection: "notes")
                }
                rows.insert(name)
                touch([name])
            case 9..<11:
                try transaction.touchRow(forKey: name.key, inCollection: name.collection)
                if rows.contains(name) { touch([name]) }
            case 11..<15:
                let keys = [name.key, "\(random.next(in: 0..<12))"]
                try transaction.removeObjects(forKeys: keys, inCollection: name.collection)
                let removed = rows.intersection(
                    keys.map { YapCollectionKey(collection: name.collection, key: $0) })
                rows.subtract(removed)
                touch(removed)
            case 15:
                try transaction.removeAllObjects(inCollection: name.collection)
                let removed = rows.filter { $0.collection == name.collection }
                rows.subtract(removed)
                touch(removed)
            case 16 where random.next(in: 0..<4) == 0:
                try transaction.removeAllObjectsInAllCollections()
                rows = []
                for index in moments.indices { moments[index].isLost = true }
            default: try savepoint(transaction)
            }
        }

        private func savepoint(_ transaction: YapDatabaseReadWriteTransaction) throws {
            let (rowsBefore, momentsBefore) = (rows, moments)
            do {
                try transaction.savepoint {
                    for _ in 0..<random.next(in: 1..<4) { try write(transaction) }
                    if random.next(in: 0..<2) == 0 { throw Refused() }
                }
            } catch is Refused {
                (rows, moments) = (rowsBefore, momentsBefore)
            }
        }

        func commit() throws {
            let (rowsBefore, momentsBefore) = (rows, moments)
            do {
                try connection.blocking.readWrite { transaction in
                    for _ in 0..<random.next(in: 1..<6) { try write(transaction) }
                    if random.next(in: 0..<4) == 0 { throw Refused() }
                }
            } catch is Refused {
                (rows, moments) = (rowsBefore, momentsBefore)
            }
        }

        func discard() throws {
            guard !moments.isEmpty else { return }
            let moment = moments[random.next(in: 0..<moments.count)]
            try connection.blocking.readWrite { try $0.discardChanges(through: moment.token) }
            if moment.isLost { return }
            for index in moments.indices where moments[index].token.position < moment.token.position {
                moments[index].isLost = true
            }
        }

        func check() throws {
            try connection.blocking.read { transaction throws in
                for moment in moments {
                    guard let changes = try transaction.changes(since: moment.token) else {
                        #expect(moment.isLost)
                        continue
                    }
                    #expect(!moment.isLost)
                    let names = changes.map { YapCollectionKey(collection: $0.collection, key: $0.key) }
                    #expect(Set(names) == moment.touched && names.count == moment.touched.count)
                    for (name, change) in zip(names, changes) {
                        #expect(change.isRemoved == !rows.contains(name))
                    }
                }
            }
        }
    }

    @Test(arguments: TestSeed.values(count: 12))
    func changesSinceAnyTokenAreAsAPlainListHasThem(seed: UInt64) throws {
        let stage = try Stage(seed: seed)
        for _ in 0..<120 {
            switch stage.random.next(in: 0..<10) {
            case 0:
                let token = try stage.connection.blocking.read { try $0.changeToken(of: "export") }
                stage.moments.append(Moment(token: token))
                if stage.moments.count > 6 { stage.moments.removeFirst() }
            case 1: try stage.discard()
            case 2:
                let index = stage.random.next(in: 0..<2)
                if stage.random.next(in: 0..<2) == 0 { try stage.databases[index].blocking.close() }
                stage.databases[index] = try stage.folder.open()
            default: try stage.commit()
            }
            try stage.check()
        }
    }
}
