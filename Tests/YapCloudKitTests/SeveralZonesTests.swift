import CloudKit
import CloudKitTesting
import SQLiteTestSupport
import System
import Testing
import Yap

@testable import YapCloudKit

/// Models in two zones: a change-set is a request for each.
@Suite struct SeveralZonesTests {
    private let cloud = TestCloud()
    private let folder: TemporaryFolder
    private let database: YapDatabase
    private let sync: CloudSync

    init() throws {
        folder = try TemporaryFolder()
        (database, sync) = try Self.open(folder.file("phone.yap"), cloud, seed: 5)
        #expect(sync.syncNowInline().state == .idle)
    }

    private static func open(
        _ path: String, _ cloud: TestCloud, seed: UInt64
    ) throws -> (YapDatabase, CloudSync) {
        let database = try YapDatabase(path: path) {
            $0.register(Todo.self, inCollection: "todos")
            $0.register(Todo.self, inCollection: "chores")
        }
        let sync = try CloudSync(
            database, container: cloud.device(user: "ada").container,
            models: [
                .model(Todo.self, collection: "todos"),
                .model(Todo.self, collection: "chores", zone: "chores"),
            ], zone: "todos", scheduler: ManualScheduler(clock: cloud.clock), clock: cloud.clock,
            random: SeededRandomSource(seed: seed))
        return (database, sync)
    }

    private func set(_ todo: Todo) throws {
        try database.newConnection().blocking.readWrite { transaction in
            for collection in ["todos", "chores"] {
                try transaction.setObject(todo, forKey: "1", inCollection: collection)
            }
        }
    }

    private func todos(_ database: YapDatabase) throws -> [Todo?] {
        try database.newConnection().blocking.read { transaction in
            try ["todos", "chores"].map {
                try transaction.object(Todo.self, forKey: "1", inCollection: $0)
            }
        }
    }

    @Test(
        "190. the response of one zone's request says nothing of the other's, which got lost: a later edit is kept",
        arguments: [0, 1])
    func aResponseForOneZoneOnly(lost: Int) throws {
        try set(Todo(title: "eggs", note: "six"))
        cloud.loseReplies(.modifyRecords, after: lost)
        _ = sync.syncNowInline()
        try set(Todo(title: "eggs", note: "ten"))
        cloud.clock.advance(bySeconds: 3_600)
        #expect(sync.syncNowInline().state == .idle)
        let edited = Todo(title: "eggs", note: "ten")
        #expect(try todos(database) == [edited, edited])
        let (other, otherSync) = try Self.open(folder.file("laptop.yap"), cloud, seed: 6)
        #expect(otherSync.syncNowInline().state == .idle)
        #expect(try todos(other) == [edited, edited])
        try other.blocking.close()
        try database.blocking.close()
    }

    @Test(
        "194. of two zones' requests one has no response and is sent again alone: it is done once"
    )
    func oneZonesRequestIsSentAgain() throws {
        try set(Todo(title: "eggs"))
        cloud.loseReplies(.modifyRecords, after: 1)
        _ = sync.syncNowInline()
        let (other, otherSync) = try Self.open(folder.file("laptop.yap"), cloud, seed: 6)
        #expect(otherSync.syncNowInline().state == .idle)
        try other.newConnection().blocking.readWrite { transaction in
            for collection in ["todos", "chores"] {
                try transaction.removeObject(forKey: "1", inCollection: collection)
            }
        }
        #expect(otherSync.syncNowInline().state == .idle)
        cloud.clock.advance(bySeconds: 3_600)
        #expect(sync.syncNowInline().state == .idle && otherSync.syncNowInline().state == .idle)
        #expect(try todos(database) == [nil, nil] && todos(other) == [nil, nil])
        try other.blocking.close()
        try database.blocking.close()
    }
}
