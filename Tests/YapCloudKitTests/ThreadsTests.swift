import CloudKit
import CloudKitTesting
import Foundation
import Testing
import Yap
import YapCloudKit

/// The same, as an app runs it: threads, queues and `await`.
@Suite struct ThreadsTests {
    private final class Device {
        private let path: String
        let database: YapDatabase
        let sync: CloudSync

        init(_ cloud: TestCloud) async throws {
            path = NSTemporaryDirectory() + "yap-threads-" + UUID().uuidString + ".db"
            database = try YapDatabase(path: path) { $0.register(Todo.self, inCollection: "todos") }
            sync = try await CloudSync(
                database, container: cloud.device(user: "ada").container,
                models: [.model(Todo.self, collection: "todos")], zone: "todos")
        }

        deinit {
            try? database.blocking.close()
            for suffix in ["", "-wal", "-shm", "-cloudKit.sync"] {
                try? FileManager.default.removeItem(atPath: path + suffix)
            }
        }

        func todos() async throws -> [String: Todo] {
            try await database.newConnection().read { transaction in
                var todos: [String: Todo] = [:]
                for row in try transaction.objects(Todo.self, inCollection: "todos") {
                    todos[row.key] = row.object
                }
                return todos
            }
        }
    }

    @Test func twoDevicesSyncOnThreads() async throws {
        let cloud = TestCloud(execution: .threads)
        let phone = try await Device(cloud)
        let laptop = try await Device(cloud)
        let connection = phone.database.newConnection()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<50 {
                group.addTask {
                    try await connection.readWrite {
                        try $0.setObject(
                            Todo(title: "t\(number)"), forKey: "\(number)", inCollection: "todos")
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(await phone.sync.syncNow().state == .idle)
        #expect(await laptop.sync.syncNow().state == .idle)
        let todos = try await laptop.todos()
        #expect(todos.count == 50)
        #expect(try await phone.todos() == todos)
        // Its beginning to listen asks for one more fetch.
        for await status in phone.sync.status where status.state == .idle { break }
        try await phone.database.close()
        try await laptop.database.close()
    }

    @Test func changesOfOneDeviceReachTheOtherOnThreads() async throws {
        let cloud = TestCloud(execution: .threads)
        let phone = try await Device(cloud)
        let laptop = try await Device(cloud)
        let laptopConnection = laptop.database.newConnection()
        let counts = laptopConnection.observe { try $0.numberOfKeys(inCollection: "todos") }
        try await phone.database.newConnection().readWrite {
            try $0.setObject(Todo(title: "eggs"), forKey: "1", inCollection: "todos")
        }
        // Nobody asks the laptop to fetch.
        for try await count in counts where count == 1 { break }
        try await laptop.database.newConnection().readWrite {
            try $0.setObject(Todo(title: "milk"), forKey: "2", inCollection: "todos")
        }
        let phoneCounts = phone.database.newConnection().observe {
            try $0.numberOfKeys(inCollection: "todos")
        }
        for try await count in phoneCounts where count == 2 { break }
        #expect(try await laptop.todos().values.map(\.title).sorted() == ["eggs", "milk"])
        #expect(try await phone.todos() == laptop.todos())
        try await phone.database.close()
        try await laptop.database.close()
    }

    @Test(arguments: [false, true])
    func anObserverIsNotifiedOfTheEnd(hasNoPushes: Bool) async throws {
        let cloud = TestCloud(execution: .threads)
        if hasNoPushes {
            cloud.fail(.modifySubscriptions, with: .invalidArguments, times: 9)
            cloud.fail(.createDeviceToken, with: .invalidArguments, times: 9)
        }
        func dropped() async throws -> CloudSync.Streams {
            let device = try await Device(cloud)
            await device.sync.syncNow()
            return (device.sync.status, device.sync.mergeLog, device.sync.errors)
        }
        let streams = try await dropped()
        for await _ in streams.status {}
        for await _ in streams.log {}
        for await _ in streams.errors {}

        let closed = try await Device(cloud)
        let statuses = closed.sync.status
        try await closed.database.close()
        closed.sync.fetch()
        var last = CloudSyncStatus()
        for await status in statuses { last = status }
        #expect(last.waits(for: .localDatabase))
    }
}

extension CloudSync {
    fileprivate typealias Streams = (
        status: AsyncStream<CloudSyncStatus>, log: AsyncStream<CloudMergeLogEntry>,
        errors: AsyncStream<CKError>
    )
}
