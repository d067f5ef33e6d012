import CloudStore
import Dispatch
import Foundation
import SQLite
import SQLiteTestSupport
import System
import Testing

/// What only a store with a file can promise.
@Suite struct SQLiteCloudStoreTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test func whatWasCommittedIsThereWhenTheFileIsOpenedAgain() throws {
        let path = folder.file("store.db")
        try SQLiteCloudStore(path: path).apply { $0.records = [Rows.record("a", counter: 1)] }
        let reopened = try SQLiteCloudStore(path: path)
        #expect(try reopened.record("a") == Rows.record("a", counter: 1))
        #expect(try reopened.integrityCheck() == [])
    }

    @Test func aFileThatIsNotADatabaseIsRefusedAndLeftAsItIs() throws {
        let path = folder.file("store.db")
        let content = Data(
            "This is a shopping list, and a long one at that.".utf8 + [UInt8](repeating: 10, count: 4096))
        try content.write(to: URL(filePath: path))
        #expect(throws: CloudStoreError.notADatabase(path: path)) { try SQLiteCloudStore(path: path) }
        #expect(try Data(contentsOf: URL(filePath: path)) == content)
    }

    @Test func aDamagedFileIsNamedInTheError() throws {
        let path = folder.file("store.db")
        try SQLiteCloudStore(path: path).close()
        // The pages of the empty store, with the header and the tables, stay: the damage is found on the way.
        let emptyBytes = try Data(contentsOf: URL(filePath: path)).count
        do {
            let store = try SQLiteCloudStore(path: path)
            let fields = [UInt8](repeating: 7, count: 1000)
            try store.apply {
                $0.records = (1...100).map { Rows.record("r\($0)", counter: $0, fields: fields) }
            }
            store.close()
        }
        var content = try Data(contentsOf: URL(filePath: path))
        try #require(content.count > emptyBytes + 20 * 4096)
        for offset in emptyBytes..<content.count { content[offset] = 0xA5 }
        try content.write(to: URL(filePath: path))
        let store = try SQLiteCloudStore(path: path)
        let error = try #require(throws: CloudStoreError.self) { try store.changes(recordsMax: 1000) }
        guard case .damaged(path, _) = error else {
            Issue.record("\(error)")
            return
        }
        #expect("\(error)".contains(path))
    }

    @Test func theDatabaseOfAnotherProgramIsRefused() throws {
        let path = folder.file("store.db")
        try Connection(path: path).execute("CREATE TABLE songs (title TEXT)")
        #expect(throws: CloudStoreError.foreignFile(path: path)) { try SQLiteCloudStore(path: path) }
    }

    @Test func aNewerFormatIsRefusedByItsNumber() throws {
        let path = folder.file("store.db")
        _ = try SQLiteCloudStore(path: path)
        try Connection(path: path).execute("PRAGMA user_version = 99")
        #expect(throws: CloudStoreError.newerFormat(path: path, version: 99)) {
            try SQLiteCloudStore(path: path)
        }
    }

    /// Writes until the log is long enough to be copied.
    private func fillLog(_ store: SQLiteCloudStore) throws {
        var counter: Int64 = 0
        while !store.checkpointIsDue {
            try store.apply {
                $0.records = (1...50).map { number in
                    counter += 1
                    // Pages whose bytes stay the same are not written.
                    let byte = UInt8(truncatingIfNeeded: counter)
                    return Rows.record(
                        "r\(number)", counter: counter, fields: [UInt8](repeating: byte, count: 20_000))
                }
            }
            try #require(counter < 10_000)
        }
    }

    @Test func aLongLogIsCopiedIntoTheFileAndBeginsAnew() throws {
        let store = try SQLiteCloudStore(path: folder.file("store.db"))
        #expect(!store.checkpointIsDue)
        try fillLog(store)
        store.checkpoint()
        #expect(store.checkpointFailure == nil)
        #expect(!store.checkpointIsDue)
        let bytes = try Data(contentsOf: URL(filePath: folder.file("store.db"))).count
        #expect(bytes > 1_000_000)
        try store.apply { $0.records = [Rows.record("last", counter: 20_000)] }
        #expect(try store.integrityCheck() == [])
        // As it is begun anew, so much must be written again.
        try fillLog(store)
        store.checkpoint()
        #expect(try store.record("last") == Rows.record("last", counter: 20_000))
    }

    @Test func aFolderThatIsNotThereIsNamedInTheError() throws {
        let path = folder.file("absent/store.db")
        let error = try #require(throws: CloudStoreError.self) { try SQLiteCloudStore(path: path) }
        #expect("\(error)".contains(path))
    }

    @Test func twoStoresOnOneFileSeeEachOthersCommits() throws {
        let path = folder.file("store.db")
        let first = try SQLiteCloudStore(path: path)
        let second = try SQLiteCloudStore(path: path)
        try first.apply { $0.records = [Rows.record("a", counter: 1)] }
        #expect(try second.record("a") != nil)
        try second.apply { $0.records = [Rows.record("b", counter: 2)] }
        #expect(try first.changes().rows.count == 2)
    }

    @Test func asManyReadersReadAtOnceAsMayAndTheNextWaits() throws {
        let store = try SQLiteCloudStore(path: folder.file("store.db"), readersMax: 2)
        try store.apply { $0.records = [Rows.record("a", counter: 1)] }
        let inside = DispatchSemaphore(value: 0)
        let gate = DispatchSemaphore(value: 0)
        let ended = DispatchSemaphore(value: 0)
        let found = Lock(0)
        for _ in 0..<3 {
            Thread.detachNewThread {
                let row = try? store.read { reader in
                    inside.signal()
                    gate.wait()
                    return try reader.zones(after: nil, zonesMax: 1)
                }
                found.withLock { $0 += row == nil ? 0 : 1 }
                ended.signal()
            }
        }
        #expect(inside.wait(timeout: .now() + 30) == .success)
        #expect(inside.wait(timeout: .now() + 30) == .success)
        #expect(inside.wait(timeout: .now()) == .timedOut, "the third waits")
        try store.apply { $0.records = [Rows.record("b", counter: 2)] }
        for _ in 0..<3 { gate.signal() }
        for _ in 0..<3 { #expect(ended.wait(timeout: .now() + 30) == .success) }
        #expect(found.withLock { $0 } == 3)
    }
}
