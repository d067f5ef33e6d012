import CloudKit
import CloudKitTesting
import Foundation
import Testing
import Yap
import YapCloudKit

/// `docs/guide/SYNC.md`: its blocks stand here, and do what the page says.
@Suite struct SyncTests {
    private let folder: Folder
    private let cloud = TestCloud(execution: .threads)

    init() throws { folder = try Folder() }

    private func open(_ name: String) throws -> YapDatabase {
        try YapDatabase(url: folder.url.appending(component: name)) {
            $0.register(Bookmark.self, inCollection: "bookmarks")
        }
    }

    private static func begin(_ database: YapDatabase) async throws -> CloudSync {
        let sync = try await CloudSync(
            database, container: .default(),
            models: [.model(Bookmark.self, collection: "bookmarks")], zone: "bookmarks")
        return sync
    }

    func icon(_ status: CloudSyncStatus) -> String {
        switch status.state {
        case .idle: "checkmark"
        case .syncing: "arrows"
        case .waiting: status.pause == .network ? "cloud.slash" : "clock"
        case .needsAttention: "warning"
        }
    }

    private func isSuspended(_ status: CloudSyncStatus) -> Bool {
        status.state == .waiting && status.pause == .suspended && status.pauseEndDate == nil
    }

    func resolve(
        _ problem: CloudSyncProblem, in sync: CloudSync,
        userKeepsObjects: (CloudSyncProblem) async -> Bool
    ) async throws {
        switch problem {
        case .anotherUser:
            let keeps = await userKeepsObjects(problem)
            try await sync.useSignedInAccount(objectsOfOtherAccount: keeps ? .keep : .remove)
        case .zoneDeletedByUser(let zoneName):
            let keeps = await userKeepsObjects(problem)
            try await sync.answerDeletedZone(zoneName: zoneName, keeps ? .uploadAgain : .removeHere)
        case .account:
            sync.accountMayHaveChanged()
        default:
            sync.retry()
        }
    }

    @Test func theStatusIsReported() async throws {
        let phone = cloud.device(user: "ada")
        let database = try open("phone.yap")
        let sync = try await phone.asDefault { try await Self.begin(database) }
        let (shown, continuation) = AsyncStream.makeStream(of: [String].self)
        let show: @Sendable (String, String) -> Void = { continuation.yield([$0, $1]) }
        let icon = icon
        let watching = Task {
            for await status in sync.status {
                show(icon(status), status.summary)
            }
        }
        try await database.newConnection().readWrite { transaction in
            try transaction.setObject(Bookmark(title: "Swift"), forKey: "1", inCollection: "bookmarks")
        }
        for await line in shown where line[0] == "checkmark" && line[1].hasPrefix("Up to date, checked ") {
            break
        }
        watching.cancel()
        cloud.disconnect(phone)
        try await database.newConnection().readWrite { transaction in
            try transaction.setObject(Bookmark(title: "Swift 6"), forKey: "1", inCollection: "bookmarks")
        }
        let status = await sync.syncNow()
        #expect(
            icon(status) == "cloud.slash" && status.summary.hasPrefix("1 change waits: no network, next try ")
        )
        #expect(sync.currentStatus.summary == status.summary)
        cloud.connect(phone)
        sync.networkMayBeBack()
        #expect(await sync.syncNow().state == .idle)
    }

    @Test func aProblemIsResolvedAndTheRestIsSent() async throws {
        let phone = cloud.device(user: "ada")
        let database = try open("phone.yap")
        let sync = try await phone.asDefault { try await Self.begin(database) }
        cloud.setQuota(bytes: 0, user: "ada")
        try await database.newConnection().readWrite { transaction in
            try transaction.setObject(Bookmark(title: "Swift"), forKey: "1", inCollection: "bookmarks")
        }
        let full = await sync.syncNow()
        #expect(full.state == .needsAttention && full.problems == [.quotaExceeded])
        cloud.setQuota(bytes: 1_000_000, user: "ada")
        for problem in full.problems { try await resolve(problem, in: sync) { _ in false } }
        #expect(await sync.syncNow().state == .idle)
    }

    @Test func whatTheServerRefusesIsDiscardedAndTheObjectIsTheServersAgain() async throws {
        let phone = cloud.device(user: "ada"), laptop = cloud.device(user: "ada")
        let here = try open("phone.yap"), there = try open("laptop.yap")
        let sync = try await phone.asDefault { try await Self.begin(here) }
        let other = try await laptop.asDefault { try await Self.begin(there) }
        let connection = here.newConnection()
        try await connection.readWrite { transaction in
            for key in ["changed", "removed"] {
                try transaction.setObject(Bookmark(title: "Swift"), forKey: key, inCollection: "bookmarks")
            }
        }
        #expect(await sync.syncNow().state == .idle)
        for name in ["changed", "removed", "new"] {
            let recordID = CKRecord.ID(recordName: name, zoneID: sync.zoneID)
            cloud.fail(.modifyRecords, of: recordID, with: .permissionFailure, on: phone)
        }
        try await connection.readWrite { transaction in
            for key in ["changed", "new"] {
                try transaction.setObject(Bookmark(title: "Refused"), forKey: key, inCollection: "bookmarks")
            }
            try transaction.removeObject(forKey: "removed", inCollection: "bookmarks")
        }
        let status = await sync.syncNow()
        #expect(status.state == .needsAttention && status.problems.count == 3)
        let names = try await sync.quarantinedChanges().map(\.recordID.recordName)
        #expect(names.sorted() == ["changed", "new", "removed"])

        for change in try await sync.quarantinedChanges() {
            try await sync.discardQuarantinedChanges(forRecordID: change.recordID)
        }
        #expect(await sync.syncNow().state == .idle)
        #expect(try await sync.quarantinedChanges().isEmpty)
        let missing = CKRecord.ID(recordName: "changed", zoneID: sync.zoneID)
        #expect(try await !sync.discardQuarantinedChanges(forRecordID: missing))
        let titles = try await connection.read { transaction in
            try ["changed", "removed", "new"].map {
                try transaction.object(Bookmark.self, forKey: $0, inCollection: "bookmarks")?.title
            }
        }
        #expect(titles == ["Swift", "Swift", "Refused"])
        #expect(try await sync.differencesFound == 0)

        // What is set again goes up again, also what the server never had.
        try await connection.readWrite { transaction in
            for key in ["changed", "new"] {
                try transaction.setObject(Bookmark(title: "Taken"), forKey: key, inCollection: "bookmarks")
            }
        }
        #expect(await sync.syncNow().state == .idle)
        #expect(await other.syncNow().state == .idle)
        let found = try await there.newConnection().read { transaction in
            try transaction.objects(Bookmark.self, inCollection: "bookmarks").map {
                "\($0.key) \($0.object.title)"
            }
        }
        #expect(found.sorted() == ["changed Taken", "new Taken", "removed Swift"])
    }

    @Test func theAppSaysWhatItKnowsOfTheWorld() async throws {
        let phone = cloud.device(user: "ada")
        let database = try open("phone.yap")
        let sync = try await phone.asDefault { try await Self.begin(database) }
        sync.didEnterBackground()
        try await database.newConnection().readWrite { transaction in
            try transaction.setObject(Bookmark(title: "Swift"), forKey: "1", inCollection: "bookmarks")
        }
        #expect(isSuspended(await sync.syncNow()))
        sync.willEnterForeground()
        #expect(await sync.syncNow().state == .idle)

        sync.suspend()
        try await database.newConnection().readWrite { transaction in
            try transaction.setObject(Bookmark(title: "Swift 6"), forKey: "1", inCollection: "bookmarks")
        }
        #expect(isSuspended(await sync.syncNow()))
        sync.resume()
        #expect(await sync.syncNow().state == .idle)
        sync.networkMayBeBack()
        sync.accountMayHaveChanged()
        #expect(await sync.syncNow().state == .idle)
    }

    @Test func theMergeLogIncludesEarlierDecisions() async throws {
        let devices = [cloud.device(user: "ada"), cloud.device(user: "ada")]
        let phone = try await Device(devices[0], folder, "phone.yap")
        let laptop = try await Device(devices[1], folder, "laptop.yap")
        try await phone.set(Bookmark(title: "Swift"), "1", "bookmarks")
        await phone.sync.syncNow()
        await laptop.sync.syncNow()
        cloud.disconnect(devices[0])
        try await phone.set(Bookmark(title: "Swift at home"), "1", "bookmarks")
        try await laptop.set(Bookmark(title: "Swift 6"), "1", "bookmarks")
        #expect(await laptop.sync.syncNow().state == .idle)
        cloud.connect(devices[0])
        phone.sync.networkMayBeBack()
        #expect(await phone.sync.syncNow().state == .idle)

        let (shown, continuation) = AsyncStream.makeStream(of: String.self)
        let show: @Sendable (String) -> Void = { continuation.yield($0) }
        let sync = phone.sync
        let watching = Task {
            for await entry in sync.mergeLog where entry.kind == .lost {
                let field = entry.field ?? "all of it"
                let dropped = entry.dropped ?? "nothing", kept = entry.kept ?? "nothing"
                show("\(entry.recordID.recordName), \(field): \(kept) stands, \(dropped) was lost")
            }
        }
        var lines = shown.makeAsyncIterator()
        #expect(await lines.next() == "1, title: Swift 6 stands, Swift at home was lost")
        watching.cancel()
    }

    @Test func errorsAreReported() async throws {
        let phone = cloud.device(user: "ada")
        let database = try open("phone.yap")
        let sync = try await phone.asDefault { try await Self.begin(database) }
        let (shown, continuation) = AsyncStream.makeStream(of: CKError.self)
        let log: @Sendable (CKError) -> Void = { continuation.yield($0) }
        let errors = sync.errors
        let watching = Task {
            for await error in errors {
                log(error)
            }
        }
        cloud.disconnect(phone)
        await sync.syncNow()
        var told = shown.makeAsyncIterator()
        #expect(await told.next()?.code == .networkUnavailable)
        watching.cancel()
    }
}
