import SQLiteTestSupport
import System
import TestSeed
import Testing

@testable import Yap

/// A value that can't be encoded when it is told to.
private struct Fussy: Codable, Sendable, Equatable {
    var number: Int
    var isRefused = false

    func encode(to encoder: any Encoder) throws {
        if isRefused { throw Refused() }
        var container = encoder.singleValueContainer()
        try container.encode(number)
    }

    init(_ number: Int, isRefused: Bool = false) {
        self.number = number
        self.isRefused = isRefused
    }

    init(from decoder: any Decoder) throws {
        number = try decoder.singleValueContainer().decode(Int.self)
    }
}

/// What a test does while an object is stored: in a transaction, before it commits.
private final class Step: Sendable {
    private let body = Lock<(@Sendable () -> Void)?>(nil)

    func onNextStoring(_ next: @escaping @Sendable () -> Void) { body.withLock { $0 = next } }

    func run() {
        let now = body.withLock { body in
            defer { body = nil }
            return body
        }
        now?()
    }
}

struct ProxyTests {
    let folder: TestFolder
    let database: YapDatabase
    let connection: YapDatabaseConnection
    let failures = WorkQueue<YapDatabaseProxyError>()
    let storedKeys = Log()
    private let step = Step()

    init() throws {
        folder = try TestFolder()
        database = try folder.open { [step, storedKeys] in
            $0.register(Fussy.self, inCollection: "fussy")
            $0.preSanitize(String.self, inCollection: "notes") { _, key, object in
                storedKeys.add(key)
                step.run()
                return object
            }
        }
        connection = database.newConnection()
    }

    private func notes(pendingMax: Int = 1_000) throws -> YapDatabaseProxy<String> {
        try YapDatabaseProxy(connection, in: "notes", pendingMax: pendingMax) { [failures] failure in
            _ = failures.push(failure)
        }
    }

    /// Runs `body` while no other thread can write.
    private func holdingWriter<Result>(_ body: () throws -> Result) throws -> Result {
        try connection.blocking.readWrite { _ in try body() }
    }

    /// What a new connection reads.
    private func onDisk() throws -> [String: String] {
        try database.newConnection().blocking.read { transaction in
            try transaction.objects(String.self, inCollection: "notes")
                .reduce(into: [:]) { $0[$1.key] = $1.object }
        }
    }

    private func setDisk(isFull: Bool) throws {
        try connection.blocking.readWrite { isFull ? try $0.fillDisk() : try $0.emptyDisk() }
    }

    @Test func aProxyReadsItsOwnPendingChangesAndOthersDoNot() throws {
        let proxy = try notes()
        try connection.blocking.readWrite { transaction throws in
            try transaction.setObject("old", forKey: "a", inCollection: "notes")
            try transaction.setObject("old", forKey: "b", inCollection: "notes")
        }
        try holdingWriter {
            try proxy.setObject("new", forKey: "a")
            try proxy.setObject("new", forKey: "c")
            #expect(try proxy.blocking.object(forKey: "a") == "new")
            #expect(try proxy.blocking.object(forKey: "b") == "old")
            try proxy.removeObject(forKey: "b")
            #expect(try proxy.blocking.object(forKey: "b") == nil)
            #expect(try onDisk() == ["a": "old", "b": "old"])
            try proxy.removeAllObjects()
            for key in ["a", "b", "c"] { #expect(try proxy.blocking.object(forKey: key) == nil) }
            try proxy.setObject("newest", forKey: "b")
            #expect(try proxy.blocking.object(forKey: "b") == "newest")
        }
        try proxy.blocking.flush()
        #expect(try onDisk() == ["b": "newest"])
        #expect(try proxy.blocking.object(forKey: "b") == "newest")
        #expect(failures.takeWithoutWaiting(max: 1).isEmpty)
    }

    @Test func asynchronousFormsReadPendingAndCommittedObjects() async throws {
        let proxy = try notes()
        try proxy.setObject("1", forKey: "a")
        #expect(try await proxy.object(forKey: "a") == "1")
        try await proxy.flush()
        #expect(try await proxy.object(forKey: "a") == "1")
        try await database.newConnection().readWrite {
            try $0.setObject("2", forKey: "a", inCollection: "notes")
        }
        #expect(try await proxy.object(forKey: "a") == "2")
        #expect(try await proxy.object(forKey: "b") == nil)
    }

    @Test func changesThatArePendingAtTheSameTimeShareOneCommit() throws {
        let proxy = try notes()
        try holdingWriter { for number in 0..<100 { try proxy.setObject("x", forKey: "\(number)") } }
        try proxy.blocking.flush()
        #expect(database.snapshot == 1)
        #expect(try onDisk().count == 100)
    }

    @Test func readsSeeAChangeWhileItsTransactionRunsAndUntilItIsAcknowledged() throws {
        let proxy = try notes()
        let log = Log()
        database.addInlineCommitObserver { _ in
            log.add("committed \((try? proxy.blocking.object(forKey: "a")) ?? "none")")
        }
        step.onNextStoring {
            log.add("storing \((try? proxy.blocking.object(forKey: "a")) ?? "none")")
            try? proxy.setObject("2", forKey: "a")
            log.add("changed \((try? proxy.blocking.object(forKey: "a")) ?? "none")")
        }
        try proxy.setObject("1", forKey: "a")
        try proxy.blocking.flush()
        try proxy.blocking.flush()
        #expect(log.lines == ["storing 1", "changed 2", "committed 2", "committed 2"])
        #expect(try onDisk() == ["a": "2"])
    }

    @Test func afterAFullDiskChangesStayPendingAndAreReadUntilTheyAreWritten() throws {
        let proxy = try notes()
        let long = String(repeating: "x", count: 100_000)
        try setDisk(isFull: true)
        try proxy.setObject(long, forKey: "a")
        let error = #expect(throws: YapDatabaseProxyError.self) { try proxy.blocking.flush() }
        #expect((error?.underlying as? YapDatabaseError)?.code == .diskFull && error?.discardedKey == nil)
        let reported = failures.take(max: 1)?.first
        #expect((reported?.underlying as? YapDatabaseError)?.code == .diskFull)
        #expect(try proxy.blocking.object(forKey: "a") == long)
        #expect(try onDisk() == [:])
        // What is not written is an error of each flush.
        #expect(throws: YapDatabaseProxyError.self) { try proxy.blocking.flush() }
        try setDisk(isFull: false)
        try proxy.blocking.flush()
        #expect(try onDisk() == ["a": long])
        try proxy.blocking.flush()
    }

    @Test func aChangeThatWasMadeWhileAnOlderOneFailedIsKept() throws {
        let proxy = try notes()
        try setDisk(isFull: true)
        step.onNextStoring { try? proxy.setObject("new", forKey: "a") }
        try proxy.setObject(String(repeating: "x", count: 100_000), forKey: "a")
        try proxy.setObject(String(repeating: "x", count: 100_000), forKey: "b")
        #expect(throws: YapDatabaseProxyError.self) { try proxy.blocking.flush() }
        #expect(try proxy.blocking.object(forKey: "a") == "new")
        try setDisk(isFull: false)
        try proxy.blocking.flush()
        #expect(try onDisk()["a"] == "new" && onDisk().count == 2)
    }

    @Test func changesThatWereGivenUpAreNotRead() throws {
        let proxy = try notes()
        try setDisk(isFull: true)
        try proxy.setObject(String(repeating: "x", count: 100_000), forKey: "a")
        #expect(throws: YapDatabaseProxyError.self) { try proxy.blocking.flush() }
        proxy.discardPendingChanges()
        #expect(try proxy.blocking.object(forKey: "a") == nil)
        try proxy.blocking.flush()
        try setDisk(isFull: false)
        #expect(try onDisk() == [:])
    }

    @Test func aFlushEndsWhenWhatItWaitsForIsGivenUp() throws {
        let proxy = try notes()
        let flushed = WorkQueue<Bool>()
        step.onNextStoring {
            try? proxy.setObject("x", forKey: "b")
            proxy.queue.flush { _ = flushed.push((try? $0.get()) != nil) }
            proxy.discardPendingChanges()
        }
        try proxy.setObject("x", forKey: "a")
        // No other transaction comes that could end it.
        #expect(flushed.take(max: 1) == [true])
        #expect(try onDisk() == ["a": "x"])
    }

    @Test func aValueThatCannotBeEncodedIsDiscardedAndReportedAndItsNeighboursAreWritten() throws {
        let proxy = try YapDatabaseProxy(connection, of: Fussy.self, in: "fussy") { [failures] failure in
            _ = failures.push(failure)
        }
        try holdingWriter {
            for number in 0..<5 {
                try proxy.setObject(Fussy(number, isRefused: number % 2 == 1), forKey: "\(number)")
            }
        }
        let error = #expect(throws: YapDatabaseProxyError.self) { try proxy.blocking.flush() }
        #expect(error?.discardedKey == "1")
        #expect((error?.underlying as? YapDatabaseError)?.code == .encoding)
        #expect((0..<2).map { _ in failures.take(max: 1)?.first?.discardedKey } == ["1", "3"])
        let keys = try connection.blocking.read { try $0.allKeys(inCollection: "fussy") }
        #expect(keys == ["0", "2", "4"])
        #expect(try proxy.blocking.object(forKey: "1") == nil)
        try proxy.blocking.flush()
    }

    @Test func aHandlerOfFailuresThatBlocksDelaysNoWrite() throws {
        let isCalled = WorkQueue<Bool>()
        let mayEnd = WorkQueue<Bool>()
        let proxy = try YapDatabaseProxy(connection, of: Fussy.self, in: "fussy") { _ in
            _ = isCalled.push(true)
            _ = mayEnd.take(max: 1)
        }
        try proxy.setObject(Fussy(1, isRefused: true), forKey: "1")
        #expect(isCalled.take(max: 1) == [true])
        try proxy.setObject(Fussy(2), forKey: "2")
        let error = #expect(throws: YapDatabaseProxyError.self) { try proxy.blocking.flush() }
        #expect(error?.discardedKey == "1")
        #expect(try connection.blocking.read { try $0.allKeys(inCollection: "fussy") } == ["2"])
        _ = mayEnd.push(true)
    }

    @Test func pendingChangesAreBounded() throws {
        let proxy = try notes(pendingMax: 2)
        try holdingWriter {
            try proxy.setObject("1", forKey: "a")
            try proxy.setObject("1", forKey: "b")
            #expect(code { try proxy.setObject("1", forKey: "c") } == .tooManyPendingChanges)
            #expect(code { try proxy.removeObject(forKey: "c") } == .tooManyPendingChanges)
            #expect(try proxy.blocking.object(forKey: "c") == nil)
            try proxy.setObject("2", forKey: "b")
            #expect(proxy.queue.pendingCount == 2)
            try proxy.removeAllObjects()
            try proxy.setObject("3", forKey: "c")
        }
        try proxy.blocking.flush()
        #expect(try onDisk() == ["c": "3"])
        #expect(proxy.queue.pendingCount == 0)
    }

    @Test func changesAreWrittenAfterTheProxyIsReleased() async throws {
        var commits = database.commits.makeAsyncIterator()
        func change() throws {
            let proxy = try notes()
            try holdingWriter { try proxy.setObject("1", forKey: "a") }
        }
        try change()
        #expect(await commits.next()?.insertedKeys(inCollection: "notes") == ["a"])
    }

    @Test func aClosedDatabaseIsAnErrorOfChangesReadsAndFlushes() throws {
        let proxy = try notes()
        try setDisk(isFull: true)
        try proxy.setObject(String(repeating: "x", count: 100_000), forKey: "a")
        #expect(throws: YapDatabaseProxyError.self) { try proxy.blocking.flush() }
        try database.blocking.close()
        #expect(code { try proxy.setObject("1", forKey: "b") } == .closed)
        #expect(code { try proxy.removeAllObjects() } == .closed)
        #expect(code { _ = try proxy.blocking.object(forKey: "b") } == .closed)
        let error = #expect(throws: YapDatabaseProxyError.self) { try proxy.blocking.flush() }
        #expect((error?.underlying as? YapDatabaseError)?.code == .closed)
    }

    @Test func aFlushInsideAWriteIsRefusedInsteadOfWaitingForEver() throws {
        let proxy = try notes()
        try proxy.setObject("1", forKey: "a")
        #expect(code { try holdingWriter { try proxy.blocking.flush() } } == .nestedTransaction)
        try proxy.blocking.flush()
    }

    @Test func aProxyOfAnotherTypeOrOfAnUnknownCollectionIsRefused() {
        #expect(code { _ = try YapDatabaseProxy(connection, of: Int.self, in: "notes") } == .typeMismatch)
        #expect(
            code { _ = try YapDatabaseProxy(connection, of: Int.self, in: "none") } == .missingRegistration)
    }

    @Test func keysOfTheSameCharactersButOtherBytesAreTwoRows() throws {
        let proxy = try notes()
        try holdingWriter {
            try proxy.setObject("1", forKey: "\u{E9}")
            try proxy.setObject("2", forKey: "e\u{301}")
            #expect(try proxy.blocking.object(forKey: "\u{E9}") == "1")
        }
        try proxy.blocking.flush()
        let count = try connection.blocking.read { try $0.numberOfKeys(inCollection: "notes") }
        #expect(count == 2)
    }

    @Test func changesAreMadeInTheirOrder() throws {
        let keys = (0..<30).map { "\(($0 * 17) % 31)" }
        let proxy = try notes()
        // The last change of a key counts.
        try holdingWriter {
            try proxy.setObject("x", forKey: keys[5])
            for key in keys { try proxy.setObject("x", forKey: key) }
        }
        try proxy.blocking.flush()
        #expect(storedKeys.lines == keys)
    }

    @Test(arguments: TestSeed.values(count: 6))
    func aProxyBehavesLikeADictionaryAfterAnyFailure(seed: UInt64) throws {
        let random = SeededRandomSource(seed: seed)
        let proxy = try notes()
        var model: [String: String] = [:]
        for _ in 0..<300 {
            let key = "\(random.next() % 12)"
            switch random.next() % 20 {
            case 0:
                try proxy.removeAllObjects()
                model = [:]
            case 1...4:
                try proxy.removeObject(forKey: key)
                model[key] = nil
            case 5: try setDisk(isFull: true)
            case 6: try setDisk(isFull: false)
            case 7: try? proxy.blocking.flush()
            default:
                let value = String(repeating: "x", count: Int(random.next() % 20_000))
                try proxy.setObject(value, forKey: key)
                model[key] = value
            }
            let read = "\(random.next() % 12)"
            #expect(try proxy.blocking.object(forKey: read) == model[read])
        }
        try setDisk(isFull: false)
        try proxy.blocking.flush()
        #expect(try onDisk() == model)
    }

    /// Hooks that fail for the value "bad", and for the removal of the row "kept".
    private func registerHooks(throwing error: any Error) throws {
        try database.blocking.register(
            YapDatabaseHooks(
                "strict", of: String.self, in: "notes",
                didModify: { change, _ in if try change.object == "bad" { throw error } },
                willRemove: { row, _ in if row.key == "kept" { throw error } }))
    }

    @Test(arguments: [
        YapDatabaseError.Code.sqlite, .extensionsDoNotSettle, .nestedTransaction, .extensionNotRegistered,
        .tooManyPendingChanges, .encoding,
    ])
    func aValueWithAFailingHookIsDiscardedForAnyError(code: YapDatabaseError.Code) throws {
        try registerHooks(throwing: YapDatabaseError(code, "no"))
        let proxy = try notes()
        try holdingWriter {
            for key in ["a", "b", "c"] { try proxy.setObject(key == "b" ? "bad" : "x", forKey: key) }
        }
        let error = #expect(throws: YapDatabaseProxyError.self) { try proxy.blocking.flush() }
        #expect(error?.discardedKey == "b" && error?.isRemovalOfAllDiscarded == false)
        #expect(failures.take(max: 1)?.first?.discardedKey == "b")
        #expect(try onDisk() == ["a": "x", "c": "x"])
        #expect(proxy.queue.pendingCount == 0)
        try proxy.blocking.flush()
    }

    @Test func aRemovalOfAllThatCannotBeMadeIsDiscardedAndWhatComesAfterIsWritten() throws {
        try registerHooks(throwing: Refused())
        try connection.blocking.readWrite { try $0.setObject("x", forKey: "kept", inCollection: "notes") }
        let proxy = try notes()
        try holdingWriter {
            try proxy.removeAllObjects()
            for number in 0..<5 { try proxy.setObject("x", forKey: "\(number)") }
            #expect(try proxy.blocking.object(forKey: "kept") == nil)
        }
        let error = #expect(throws: YapDatabaseProxyError.self) { try proxy.blocking.flush() }
        #expect(error?.isRemovalOfAllDiscarded == true && error?.discardedKey == nil)
        #expect("\(try #require(error))".hasPrefix("the removal of all rows was discarded"))
        #expect(try onDisk().keys.sorted() == ["0", "1", "2", "3", "4", "kept"])
        try proxy.blocking.flush()
    }

    @Test(arguments: [[0], [19], [7, 8], [3, 11, 12]])
    func anErrorAtTheEndOfTheTransactionDiscardsTheChangesThatCauseItAlone(bad: [Int]) throws {
        let commitsCount = Lock(0)
        let checking = ScriptedExtension(
            fills: false,
            onFlush: { part in
                let values = try part.transaction.objects(String.self, inCollection: "notes").map(\.object)
                if values.contains("bad") { throw Refused() }
            })
        try database.blocking.register(checking, withName: "checking")
        let id = database.addInlineCommitObserver { _ in commitsCount.withLock { $0 += 1 } }
        defer { database.removeCommitObserver(id) }
        let proxy = try notes()
        try holdingWriter {
            for number in 0..<20 {
                try proxy.setObject(bad.contains(number) ? "bad" : "x", forKey: "\(number)")
            }
        }
        let error = #expect(throws: YapDatabaseProxyError.self) { try proxy.blocking.flush() }
        #expect(error?.discardedKey == bad.first.map { "\($0)" })
        #expect(bad.map { _ in failures.take(max: 1)?.first?.discardedKey } == bad.map { "\($0)" })
        #expect(try onDisk().keys.sorted() == (0..<20).filter { !bad.contains($0) }.map { "\($0)" }.sorted())
        #expect(try onDisk().values.allSatisfy { $0 == "x" })
        // Several changes at once, also around those that fail.
        #expect(commitsCount.withLock { $0 } < 15)
        try proxy.blocking.flush()
        try proxy.setObject("y", forKey: "0")
        try proxy.blocking.flush()
        #expect(try onDisk()["0"] == "y")
    }
}
