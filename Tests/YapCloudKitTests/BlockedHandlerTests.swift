import CloudKit
import CloudKitTesting
import Dispatch
import SQLiteTestSupport
import Testing
import Yap

@testable import YapCloudKit

/// One handler of each kind that an app gives blocks for good: the syncs, observers and timers of others go on.
@Suite struct BlockedHandlerTests {
    /// Blocks the handlers of a test until the test ends.
    private final class Gate: Sendable {
        private let opened = DispatchSemaphore(value: 0)

        func block() {
            opened.wait()
            opened.signal()
        }

        func open() { opened.signal() }
    }

    private let cloud = TestCloud(execution: .threads)
    private let gate = Gate()

    private func database(_ folder: TemporaryFolder, _ name: String) throws -> YapDatabase {
        try YapDatabase(path: folder.file(name)) { $0.register(Todo.self, inCollection: "todos") }
    }

    private func synced(_ folder: TemporaryFolder, _ name: String) async throws -> (YapDatabase, CloudSync) {
        let database = try database(folder, name)
        let sync = try await CloudSync(
            database, container: cloud.device(user: "ada").container,
            models: [.model(Todo.self, collection: "todos")], zone: "todos")
        return (database, sync)
    }

    /// A database with a handler that blocks inside its write transactions.
    private func databaseWithBlockingRecordHandler(_ folder: TemporaryFolder) async throws -> YapDatabase {
        let database = try database(folder, "record")
        let container = cloud.device(user: "ada").container
        let handler = YapDatabaseCloudKitRecordHandler.withObject { [gate] _, _, _, _, _, _ in gate.block() }
        try await database.register(
            YapDatabaseCloudKit(
                recordHandler: handler, mergeBlock: { _, _, _, _, _ in }, operationErrorBlock: { _, _ in },
                databaseIdentifierBlock: { _ in container.privateCloudDatabase }, versionTag: "1"),
            withName: "cloudKit")
        return database
    }

    /// A database whose sync has an error for a block that blocks: the app knows no cloud database.
    private func databaseWithBlockingErrorBlock(_ folder: TemporaryFolder) async throws -> (
        YapDatabase, YapDatabaseCloudKit
    ) {
        let database = try database(folder, "error")
        let handler = YapDatabaseCloudKitRecordHandler.withObject { _, record, _, _, _, _ in
            if record == nil { record = CKRecord(recordType: "todo", recordID: CKRecord.ID(recordName: "1")) }
            record?["title"] = "refused"
        }
        let cloudKit = YapDatabaseCloudKit(
            recordHandler: handler, mergeBlock: { _, _, _, _, _ in },
            operationErrorBlock: { [gate] _, _ in gate.block() }, databaseIdentifierBlock: { _ in nil },
            versionTag: "1")
        try await database.register(cloudKit, withName: "cloudKit")
        return (database, cloudKit)
    }

    /// A database with a merge block that blocks, inside a write transaction that merges a record of the server.
    ///
    /// - Returns: The database, and the transaction. The merge block is running.
    private func databaseWithBlockingMergeBlock(_ folder: TemporaryFolder) async throws -> (
        YapDatabase, Task<Void, any Error>
    ) {
        let database = try database(folder, "merge")
        let handler = YapDatabaseCloudKitRecordHandler.withObject { _, record, _, _, _, _ in
            if record == nil { record = CKRecord(recordType: "todo", recordID: CKRecord.ID(recordName: "1")) }
            record?["title"] = "ours"
        }
        let (merges, continuation) = AsyncStream.makeStream(of: Void.self)
        let cloudKit = YapDatabaseCloudKit(
            recordHandler: handler,
            mergeBlock: { [gate] _, _, _, _, _ in
                continuation.finish()
                gate.block()
            }, operationErrorBlock: { _, _ in }, databaseIdentifierBlock: { _ in nil }, versionTag: "1")
        try await database.register(cloudKit, withName: "cloudKit")
        try await database.newConnection().readWrite {
            try $0.setObject(Todo(title: "ours"), forKey: "1", inCollection: "todos")
        }
        let merging = Task {
            try await database.newConnection().readWrite { transaction in
                let remote = CKRecord(recordType: "todo", recordID: CKRecord.ID(recordName: "1"))
                remote["title"] = "theirs"
                try transaction.ext("cloudKit", as: YapDatabaseCloudKit.self)
                    .mergeRecord(remote, databaseIdentifier: nil)
            }
        }
        for await _ in merges {}
        return (database, merging)
    }

    @Test func handlersThatBlockStopNoOtherSync() async throws {
        let folder = try TemporaryFolder()
        defer { gate.open() }
        let record = try await databaseWithBlockingRecordHandler(folder)
        let (error, errorSync) = try await databaseWithBlockingErrorBlock(folder)
        let (merge, merging) = try await databaseWithBlockingMergeBlock(folder)
        let stuck = Task {
            try await record.newConnection().readWrite {
                try $0.setObject(Todo(title: "stuck"), forKey: "1", inCollection: "todos")
            }
        }
        try await error.newConnection().readWrite {
            try $0.setObject(Todo(title: "refused"), forKey: "1", inCollection: "todos")
        }
        // The sync whose error block blocks goes on itself.
        for await status in errorSync.runner.statusStream() {
            if status.state == .needsAttention { break }
        }
        let (phone, phoneSync) = try await synced(folder, "phone")
        let (laptop, laptopSync) = try await synced(folder, "laptop")
        phone.addCommitObserver { [gate] _ in gate.block() }
        let (commits, continuation) = AsyncStream.makeStream(of: Void.self)
        phone.addCommitObserver { _ in continuation.yield() }
        DispatchTimerSource.shared.after(milliseconds: 0) { [gate] in gate.block() }
        let (timers, timer) = AsyncStream.makeStream(of: Void.self)
        DispatchTimerSource.shared.after(milliseconds: 1) { timer.finish() }
        for await _ in timers {}
        for number in 1...3 {
            try await phone.newConnection().readWrite {
                try $0.setObject(Todo(title: "\(number)"), forKey: "\(number)", inCollection: "todos")
            }
            #expect(await phoneSync.syncNow().state == .idle)
            #expect(await laptopSync.syncNow().state == .idle)
        }
        for await _ in commits { break }
        let count = try await laptop.newConnection().read { try $0.numberOfKeys(inCollection: "todos") }
        #expect(count == 3)
        gate.open()
        _ = try await stuck.value
        try await merging.value
        for database in [record, error, merge, phone, laptop] { try await database.close() }
    }
}
