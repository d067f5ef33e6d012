import Foundation
import Testing
import WordCount
import Yap

struct Memo: Codable, Sendable {
    var text = ""
}

let words = WordCount("words", of: Memo.self, in: "memos") { $0.text }

/// `docs/guide/EXTENSIONS.md`: the use of its extension stands here, and the extension in `Examples/WordCount`.
@Suite struct ExtensionsTests {
    private let folder: Folder

    init() throws { folder = try Folder() }

    private func open() throws -> YapDatabase {
        try YapDatabase(url: folder.url.appending(component: "memos.yap")) {
            $0.register(Memo.self, inCollection: "memos")
        }
    }

    private func set(_ text: String, _ key: String, _ transaction: YapDatabaseReadWriteTransaction) throws {
        try transaction.setObject(Memo(text: text), forKey: key, inCollection: "memos")
    }

    @Test func theExampleCountsWhatIsStored() async throws {
        let database = try open()
        let connection = database.newConnection()
        try await connection.readWrite { transaction in
            try set("Buy milk", "1", transaction)
            try set("Call mum", "2", transaction)
        }
        try await database.register(words)
        let count = try await connection.read { try $0[words].count(of: "Buy") }
        #expect(count == 1)
        func expect(_ buy: Int, _ call: Int, _ write: (YapDatabaseReadWriteTransaction) throws -> Void) throws
        {
            let inside = try database.newConnection().blocking.readWrite { transaction in
                try write(transaction)
                return try [transaction[words].count(of: "Buy"), transaction[words].count(of: "Call")]
            }
            #expect(inside == [buy, call])
            let after = try connection.blocking.read { transaction in
                try [transaction[words].count(of: "Buy"), transaction[words].count(of: "Call")]
            }
            #expect(after == [buy, call])
        }
        try expect(2, 0) { try set("Buy bread", "2", $0) }
        try expect(1, 0) { try $0.removeObject(forKey: "1", inCollection: "memos") }
        try expect(1, 1) { transaction in
            try set("Call mum", "3", transaction)
            try? transaction.savepoint {
                try transaction.removeAllObjectsInAllCollections()
                _ = try transaction[words].count(of: "Buy")
                throw CancellationError()
            }
        }
        try expect(0, 0) { try $0.removeAllObjectsInAllCollections() }
    }

    @Test func textsThatLookAlikeAreTwoWords() async throws {
        let database = try open()
        try await database.register(words)
        let (composed, decomposed) = ("caf\u{e9}", "cafe\u{301}")
        try await database.newConnection().readWrite { try set(composed, "1", $0) }
        let counts = try await database.newConnection().read { transaction in
            try [composed, decomposed].map { try transaction[words].count(of: $0) }
        }
        #expect(counts == [1, 0])
    }

    @Test func theExampleIsFilledAnewForAnotherVersionOnly() async throws {
        let database = try open()
        try await database.register(words)
        try await database.newConnection().readWrite { try set("Buy milk", "1", $0) }
        try await database.close()
        func count(_ words: WordCount, of word: String) async throws -> Int {
            let database = try open()
            try await database.register(words)
            let count = try await database.newConnection().read { try $0[words].count(of: word) }
            try await database.close()
            return count
        }
        let other = WordCount("words", of: Memo.self, in: "memos", version: "2") { $0.text.lowercased() }
        #expect(try await count(words, of: "Buy") == 1)
        #expect(try await count(other, of: "buy") == 1)
        #expect(try await count(other, of: "Buy") == 0)
    }

    @Test func aCountIsObservedByItsWord() async throws {
        let database = try open()
        let connection = database.newConnection()
        try await database.register(words)
        var counts = connection.observe { try $0[words].count(of: "Buy") }.makeAsyncIterator()
        #expect(try await counts.next() == 0)
        try await connection.readWrite { try set("Buy milk", "1", $0) }
        #expect(try await counts.next() == 1)
        // The end comes next, so the commit of another word gave no value.
        try await connection.readWrite { try set("Call mum", "2", $0) }
        try await database.close()
        #expect(try await counts.next() == nil)
    }
}
