import Testing

@testable import Yap

/// Connections that permit some kinds of transactions only.
struct PermittedTransactionTests {
    typealias Permits = YapDatabasePermittedTransactions

    private let folder: TestFolder
    private let database: YapDatabase

    init() throws {
        folder = try TestFolder()
        database = try folder.open()
    }

    private func code(_ body: () async throws -> Void) async -> YapDatabaseError.Code? {
        do {
            try await body()
            return nil
        } catch {
            return (error as? YapDatabaseError)?.code
        }
    }

    @Test(arguments: [
        (Permits.read, "read"), (.blockingRead, "blockingRead"), (.readWrite, "readWrite"),
        (.blockingReadWrite, "blockingReadWrite"), (.anyRead, "read, blockingRead"),
        (.anyReadWrite, "readWrite, blockingReadWrite"),
        (.any, "read, blockingRead, readWrite, blockingReadWrite"),
    ])
    func aConnectionBeginsTheTransactionsThatItPermitsAndNoOther(
        permits: Permits, names: String
    ) async throws {
        let connection = database.newConnection(name: "list", permits: permits)
        let blockingRead = waitingCode { try connection.blocking.read { _ in } }
        let blockingReadWrite = waitingCode { try connection.blocking.readWrite { try $0.set("a", "1") } }
        let read = await code { try await connection.read { _ in } }
        let readWrite = await code { try await connection.readWrite { try $0.set("b", "2") } }
        let refused = YapDatabaseError.Code.transactionNotPermitted
        #expect(read == (permits.contains(.read) ? nil : refused))
        #expect(blockingRead == (permits.contains(.blockingRead) ? nil : refused))
        #expect(readWrite == (permits.contains(.readWrite) ? nil : refused))
        #expect(blockingReadWrite == (permits.contains(.blockingReadWrite) ? nil : refused))
        let keys = try await database.newConnection().read { try $0.allKeys(inCollection: "todos") }
        #expect(keys == (blockingReadWrite == nil ? ["1"] : []) + (readWrite == nil ? ["2"] : []))
        #expect("\(permits)" == "[\(names)]" && connection.permits == permits)
    }

    @Test func aRefusedTransactionIsNotQueued() async throws {
        let (mayEnd, begun) = (WorkQueue<Int>(), WorkQueue<Int>())
        let isStarted = startThread { [database] in
            try? database.newConnection().blocking.readWrite { _ in
                _ = begun.push(0)
                _ = mayEnd.take(max: 1)
            }
        }
        #expect(isStarted)
        _ = begun.take(max: 1)
        // The writer is taken: a write that was queued would not return.
        let reads = database.newConnection(permits: .anyRead)
        #expect(waitingCode { try reads.blocking.readWrite { _ in } } == .transactionNotPermitted)
        #expect(await code { try await reads.readWrite { _ in } } == .transactionNotPermitted)
        #expect(database.pendingWritesCount == 0)
        _ = mayEnd.push(0)
    }

    @Test func whatReadsAndWritesByAConnectionIsBoundToItsPermits() async throws {
        let writes = database.newConnection(name: "import", permits: .readWrite)
        let observed = await code { for try await _ in writes.observe({ _ in 1 }) { break } }
        #expect(observed == .transactionNotPermitted)
        #expect(await code { _ = try await writes.beginLongLivedRead() } == .transactionNotPermitted)
        let reads = database.newConnection(permits: .read)
        #expect(
            waitingCode { _ = try YapDatabaseProxy(reads, of: String.self, in: "notes") }
                == .transactionNotPermitted)
        let list = try await reads.beginLongLivedRead()
        #expect(waitingCode { try list.blocking.read { _ in } } == .transactionNotPermitted)
        #expect(waitingCode { try list.blocking.moveToNewest() } == .transactionNotPermitted)
        let proxy = try YapDatabaseProxy(
            database.newConnection(permits: [.read, .readWrite]), of: String.self, in: "notes")
        try proxy.setObject("dear", forKey: "1")
        try await proxy.flush()
        #expect(waitingCode { _ = try proxy.blocking.object(forKey: "1") } == .transactionNotPermitted)
        let stamps = try YapDatabaseProxy(
            database.newConnection(permits: [.read, .readWrite]), of: Todo.self, in: "todos")
        #expect(
            waitingCode { _ = try stamps.blocking.metadata(Stamp.self, forKey: "1") }
                == .transactionNotPermitted)
        #expect(
            waitingCode { _ = try stamps.blocking.row(metadata: Stamp.self, forKey: "1") }
                == .transactionNotPermitted)
        #expect(try await proxy.object(forKey: "1") == "dear")
    }

    @Test func theErrorNamesTheConnectionAndWhatItPermits() throws {
        let list = database.newConnection(name: "list", permits: [.read, .blockingRead])
        let error = try #require(throws: YapDatabaseError.self) { try list.blocking.readWrite { _ in } }
        let message = "the connection \"list\" permits [read, blockingRead] and not [blockingReadWrite]"
        #expect(error.message == message)
    }
}

/// The code of the error that a closure throws which waits; the suite's own is for those that don't.
private func waitingCode(_ body: () throws -> Void) -> YapDatabaseError.Code? { code(body) }
