import CloudKit
import CloudKitTesting
import SQLite
import Testing
import Yap

@testable import YapCloudKit

/// The extension's tables: their upgrade, the counts, the accounts.
@Suite struct TablesTests {
    let cloud = TestCloud()
    let device: HandledDevice

    init() throws {
        device = try HandledDevice(cloud, suspended: true)
    }

    private func counts(_ identifier: String? = nil, account: Int64 = 1) throws -> QueueCount {
        try device.read { _, ext in try ext.tables.counts(DatabaseKey(identifier, account: account)) }
    }

    /// What the counts should be, by counting.
    private func counted(_ identifier: String? = nil, account: Int64 = 1) throws -> QueueCount {
        try device.read { transaction, ext in
            let key = DatabaseKey(identifier, account: account)
            func number(_ what: String, _ condition: String = "1") throws -> Int {
                try transaction.sqlite.withStatement(
                    """
                    SELECT \(what) FROM \(ext.tables.table("changeset")) AS s
                    LEFT JOIN \(ext.tables.table("change")) AS c ON c.sequence = s.sequence
                    WHERE s.database = '\(key.column)' AND \(condition)
                    """
                ) { try $0.step() ? Int($0.int64(at: 0)) : -1 }
            }
            return try QueueCount(
                pending: number("count(c.id)", "c.refusal IS NULL"),
                changeSets: number("count(DISTINCT s.sequence)"),
                inFlightChangeSets: number("count(DISTINCT s.sequence)", "s.in_flight = 1"),
                quarantinedCount: number("count(c.refusal)"), quarantined: ext.tables.counts(key).quarantined)
        }
    }

    @Test(arguments: [1, 2])
    func aFileOfAnEarlierVersionIsUpgradedInPlace(version: Int) throws {
        try device.uploaded(Todo(title: "a", note: "x"), "1")
        try device.uploaded(Todo(title: "b"), "2")
        try device.edit("1") { $0.title = "c" }
        try device.edit("1") { $0.note = nil }
        try device.remove("2")
        try device.set(Todo(title: "d"), "3")
        try device.set(Todo(title: "p"), "4", in: "shared")
        try device.write { _, ext in
            try ext.setToken(
                CKServerChangeToken(token: "t"), forZone: HandledDevice.zoneID, databaseIdentifier: "public")
            let record = try #require(try ext.tables.records.liveRecord(device.id("3"), DatabaseKey(nil)))
            try ext.tables.queue.quarantineChanges(
                of: record.id, code: Int64(CKError.Code.permissionFailure.rawValue))
        }
        let before = try (
            device.queue(), device.tag("1"), device.read { try $1.pendingChangeSets().map(\.uuid) }
        )
        let handled = device.seen.handled
        try device.database.blocking.close()
        try OldTables.rewrite(device.path, name: "ck", toVersion: version)
        try device.relaunch()

        #expect(try device.queue() == before.0)
        #expect(
            before.0 == ["S1{title=c}", "S1{note=nil}", "D2", "S3{done=0,priority=0,title=d}", before.0[4]])
        #expect(try device.tag("1") == before.1)
        #expect(try device.read { try $1.pendingChangeSets().map(\.uuid) } == before.2)
        #expect(device.seen.handled == handled, "the handler is not asked")
        let token = try device.read {
            try $1.token(forZone: HandledDevice.zoneID, databaseIdentifier: "public")
        }
        #expect(token?.token == "t")
        #expect(try counts() == counted())
        #expect(try counts().quarantined.count == 1)
        #expect(try counts("public").pending == 1)
        // What is written now is in the same order and counts.
        try device.edit("1") { $0.priority = 7 }
        #expect(try device.queue().last == "S1{priority=7}")
        guard device.upload().state == .needsAttention else {
            Issue.record("a refused change is not seen"); return
        }
        device.cloudKit.retry()
        #expect(device.upload().state == .idle)
        #expect(try counts() == QueueCount())
        #expect(device.server("1")?["title"] == "c")
        #expect(device.server("1")?["note"] == nil)
        #expect(device.server("2") == nil)
        #expect(device.server("3")?["title"] == "d")
    }

    @Test func theCountsAreRightAfterEachStep() throws {
        func check(_ pending: Int, _ changeSets: Int, _ inFlight: Int, _ refused: Int, line: Int = #line)
            throws
        {
            let counts = try counts()
            let counted = try counted()
            #expect(counts == counted, "line \(line)")
            let numbers = [
                counts.pending, counts.changeSets, counts.inFlightChangeSets, counts.quarantinedCount,
            ]
            #expect(numbers == [pending, changeSets, inFlight, refused], "line \(line)")
        }
        try check(0, 0, 0, 0)
        try device.write { transaction, _ in
            for key in ["1", "2", "3"] {
                try transaction.setObject(Todo(), forKey: key, inCollection: "todos")
            }
        }
        try check(3, 1, 0, 0)
        try device.edit("1") { $0.title = "a" }
        try check(4, 2, 0, 0)
        let batch = try device.write { try $1.takeBatch(DatabaseKey(nil), itemsMax: 2, bytesMax: .max) }
        #expect(batch.items.count == 2)
        try check(4, 2, 1, 0)
        try device.write { _, ext in
            try ext.tables.queue.quarantineChanges(of: batch.items[0].incarnation, code: 1)
        }
        try check(2, 2, 1, 2)
        try device.write { _, ext in try ext.tables.queue.liftQuarantine(DatabaseKey(nil)) }
        try check(4, 2, 1, 0)
        try? device.write { _, ext in
            try ext.tables.queue.clearAllInFlight()
            throw CancellationError()
        }
        try check(4, 2, 1, 0)
        try device.write { _, ext in try ext.tables.queue.clearInFlight(DatabaseKey(nil)) }
        try check(4, 2, 0, 0)
        try device.remove("1")
        try check(5, 3, 0, 0)
        _ = try device.write { _, ext in
            var completion = SyncCompletion()
            completion.saved = Array(zip(batch.items, batch.saves))
            try ext.complete(completion, DatabaseKey(nil), merge: nil)
        }
        try check(3, 3, 0, 0)
        #expect(device.upload().state == .idle)
        try check(0, 0, 0, 0)
    }

    @Test func aBatchEndsBeforeTheBytesThatAreAllowed() throws {
        try device.write { transaction, _ in
            for key in ["1", "2", "3"] {
                let title = String(repeating: key, count: 1000)
                try transaction.setObject(Todo(title: title), forKey: key, inCollection: "todos")
            }
        }
        func taken(_ bytesMax: Int) throws -> Int {
            try device.write { try $1.takeBatch(DatabaseKey(nil), itemsMax: 400, bytesMax: bytesMax) }.items
                .count
        }
        #expect(try taken(10) == 1, "a record that is too large alone goes alone")
        #expect(try taken(2500) == 2)
        #expect(try taken(1_000_000) == 3)
    }

    @Test("122. each account has its own queue, tags and tokens, and a row stays with its account")
    func eachAccountHasItsOwnQueue() throws {
        try device.uploaded(Todo(title: "a"), "1")
        try device.edit("1") { $0.title = "b" }
        let zone = HandledDevice.zoneID
        let second = try device.write { _, ext in
            #expect(try ext.tables.accounts.currentAccount() == DatabaseKey.firstAccount)
            try ext.setToken(CKServerChangeToken(token: "ada"), forZone: zone, databaseIdentifier: nil)
            let first = try ext.tables.accounts.makeAccount(of: "_ada", in: nil)
            #expect(first == DatabaseKey.firstAccount, "the first user who is known gets what there is")
            let second = try ext.tables.accounts.makeAccount(of: "_bob", in: nil)
            try ext.tables.accounts.makeCurrent(second)
            return second
        }
        try device.relaunch()
        try device.read { _, ext in
            let current = try ext.tables.accounts.currentAccount()
            #expect(current == second)
            #expect(try ext.tables.accounts.account(of: "_ada", in: nil) == DatabaseKey.firstAccount)
            #expect(
                try ext.tables.accounts.account(of: "_ada", in: "other") == nil,
                "another container has other names")
            #expect(try ext.tables.accounts.account(of: "_bob", in: nil) == second)
            #expect(try ext.token(forZone: zone, databaseIdentifier: nil) == nil)
            #expect(try !ext.containsRecordID(device.id("1"), databaseIdentifier: nil))
        }
        try device.edit("1") { $0.title = "c" }
        try device.set(Todo(title: "bob's"), "2")
        #expect(try counts().changeSets == 2)
        #expect(try counts(account: second).changeSets == 1)
        try device.write { _, ext in
            try ext.tables.accounts.makeCurrent(DatabaseKey.firstAccount)
            #expect(try ext.token(forZone: zone, databaseIdentifier: nil)?.token == "ada")
            #expect(try ext.tag(device.id("1")) != nil)
            #expect(try !ext.containsRecordID(device.id("2"), databaseIdentifier: nil))
        }
    }

    @Test func aKeyIsReadAsItIsWritten() {
        for identifier in [nil, "", "public", "a:b", ":"] as [String?] {
            for account: Int64 in [1, 12] {
                let key = DatabaseKey(identifier, account: account)
                #expect(DatabaseKey(column: key.column) == key)
            }
        }
        let keys = [
            DatabaseKey(nil), DatabaseKey(""), DatabaseKey("a"), DatabaseKey(nil, account: 2),
            DatabaseKey("a", account: 10),
        ]
        #expect(keys.shuffled().sorted() == keys)
    }
}

extension YapDatabaseCloudKitTransaction {
    fileprivate func tag(_ recordID: CKRecord.ID) throws -> String? {
        try recordChangeTag(forRecordID: recordID, databaseIdentifier: nil).recordChangeTag
    }
}
