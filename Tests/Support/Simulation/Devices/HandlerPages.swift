import CloudKit
import SyncDevices
import Yap
import YapCloudKit

/// A fetch of everything that is under way: what isn't seen until its end is no longer there.
package struct FullFetch: Codable, Sendable {
    package static let collection = "full fetches"

    package enum Reason: String, Codable, Sendable {
        /// The server no longer knows what was deleted since the token.
        case expired
        /// The server was put back.
        case reset
        /// This version of the app knows more of each record.
        case upgrade
    }

    package let reason: Reason
    fileprivate var seen: [String] = []
    /// Whether a record is applied also where its version is known.
    fileprivate var isForced = false
}

/// What an app that fetches by itself does with a page: with the extension's own calls, and nothing else.
package struct HandlerPages {
    private typealias Transaction = YapDatabaseReadWriteTransaction
    private typealias Ext = YapDatabaseCloudKitTransaction

    /// The name under which the extension is registered.
    package static let extensionName = "ck"

    private let blocks: HandlerBlocks

    package init(_ blocks: HandlerBlocks) {
        self.blocks = blocks
    }

    /// A record of the page can't be judged before the answer to an upload is here, or not by this page.
    private struct PageComesLater: Error {}

    /// A new version of the app fetches everything again.
    package func welcome(
        _ zones: [(zoneID: CKRecordZone.ID, identifier: String?)], _ connection: YapDatabaseConnection
    ) throws {
        try connection.blocking.readWrite { try welcome(zones, $0) }
    }

    private func welcome(
        _ zones: [(zoneID: CKRecordZone.ID, identifier: String?)], _ transaction: Transaction
    ) throws {
        let before = try transaction.object(Int.self, forKey: "version", inCollection: "app")
        guard before != blocks.version else { return }
        try transaction.setObject(blocks.version, forKey: "version", inCollection: "app")
        guard before != nil else { return }
        for zone in zones { try begin(.upgrade, zone.zoneID, zone.identifier, transaction) }
        if blocks.version > 1 { try giveBackWhatWaits(transaction) }
    }

    /// The earlier version kept the later fields to itself, and may have changed them while a value of the later one
    /// waited: what waits goes up, and is the row's again.
    private func giveBackWhatWaits(_ transaction: Transaction) throws {
        let ext = try transaction.ext(Self.extensionName, as: YapDatabaseCloudKit.self)
        for record in try ext.pendingChangeSets().flatMap(\.recordsToSave)
        where record.recordType == Todo.recordType {
            let waiting = Todo.laterFields.filter(record.changedKeys().contains)
            let key = record.recordID.recordName
            for collection in blocks.collections(key) {
                let names = waiting.filter(blocks.names(collection).contains)
                guard let object = try transaction.object(forKey: key, inCollection: collection) else {
                    continue
                }
                var todo = HandlerBlocks.todo(object)
                for name in names { HandlerBlocks.set(name, of: &todo, to: record.object(forKey: name)) }
                guard todo != HandlerBlocks.todo(object) else { continue }
                try HandlerBlocks.store(todo, key, collection, transaction)
            }
        }
    }

    /// Begins to fetch everything.
    private func begin(
        _ reason: FullFetch.Reason, _ zoneID: CKRecordZone.ID, _ identifier: String?,
        _ transaction: Transaction
    ) throws {
        let ext = try transaction.ext(Self.extensionName, as: YapDatabaseCloudKit.self)
        try ext.setToken(nil, forZone: zoneID, databaseIdentifier: identifier)
        // What this version has not taken over yet isn't forgotten when the fetch begins anew for another reason.
        let before = try transaction.object(
            FullFetch.self, forKey: zoneID.zoneName, inCollection: FullFetch.collection)
        let isForced = reason == .upgrade || before?.isForced ?? false
        try transaction.setObject(
            FullFetch(reason: reason, isForced: isForced), forKey: zoneID.zoneName,
            inCollection: FullFetch.collection)
    }

    /// Where the fetch of a zone goes on.
    package func token(
        _ zoneID: CKRecordZone.ID, _ identifier: String?, _ connection: YapDatabaseConnection
    ) throws -> CKServerChangeToken? {
        try connection.blocking.read { transaction in
            try transaction.ext(Self.extensionName, as: YapDatabaseCloudKit.self)
                .token(forZone: zoneID, databaseIdentifier: identifier)
        }
    }

    /// Applies what a fetch came to, with its token, in one transaction.
    /// - Parameter sentAgain: Called with the keys of what the server lost, and this device sends again.
    /// - Returns: Whether there are more; nil when it came to nothing, or the page has to be fetched again later.
    package func take(
        _ page: FetchedPage, _ zoneID: CKRecordZone.ID, _ identifier: String?,
        _ connection: YapDatabaseConnection, sentAgain: ([String]) -> Void = { _ in }
    ) throws -> Bool? {
        do {
            guard let error = page.error else {
                sentAgain(
                    try connection.blocking.readWrite { try apply(page, zoneID, identifier, $0) })
                return page.moreComing
            }
            guard error.code == .changeTokenExpired else { return nil }
            let reason: FullFetch.Reason = error.changeTokenRefusal == .reset ? .reset : .expired
            try connection.blocking.readWrite { try begin(reason, zoneID, identifier, $0) }
            return true
        } catch is PageComesLater {
            return nil
        }
    }

    private func apply(
        _ page: FetchedPage, _ zoneID: CKRecordZone.ID, _ identifier: String?, _ transaction: Transaction
    ) throws -> [String] {
        let ext = try transaction.ext(Self.extensionName, as: YapDatabaseCloudKit.self)
        var full = try transaction.object(
            FullFetch.self, forKey: zoneID.zoneName, inCollection: FullFetch.collection)
        for recordID in page.deleted {
            try requireCertainty(of: recordID, identifier, ext)
            try delete(recordID, identifier, transaction, ext)
        }
        for record in page.changed {
            full?.seen.append(record.recordID.recordName)
            try apply(record, identifier, isForced: full?.isForced ?? false, transaction, ext)
        }
        try ext.setToken(page.token, forZone: zoneID, databaseIdentifier: identifier)
        guard let full else { return [] }
        guard !page.moreComing else {
            try transaction.setObject(
                full, forKey: zoneID.zoneName, inCollection: FullFetch.collection)
            return []
        }
        let sentAgain = try finish(full, zoneID, identifier, transaction, ext)
        try transaction.removeObject(forKey: zoneID.zoneName, inCollection: FullFetch.collection)
        return sentAgain
    }

    /// A save may have come after what the page tells.
    private func requireCertainty(of recordID: CKRecord.ID, _ identifier: String?, _ ext: Ext) throws {
        if try ext.isDeletionUncertain(of: recordID, databaseIdentifier: identifier) {
            throw PageComesLater()
        }
    }

    private func delete(
        _ recordID: CKRecord.ID, _ identifier: String?, _ transaction: Transaction, _ ext: Ext
    ) throws {
        for row in try ext.removeRemotelyDeletedRecord(recordID, databaseIdentifier: identifier) {
            try transaction.removeObject(forKey: row.key, inCollection: row.collection)
        }
    }

    private func apply(
        _ record: CKRecord, _ identifier: String?, isForced: Bool, _ transaction: Transaction, _ ext: Ext
    ) throws {
        // What this version doesn't know comes again with the one that does.
        guard record.recordType == Todo.recordType || blocks.version > 1 else { return }
        let recordID = record.recordID
        if try ext.isOvertaken(record, databaseIdentifier: identifier) { return }
        let known = try ext.recordChangeTag(forRecordID: recordID, databaseIdentifier: identifier)
        if let tag = known.recordChangeTag, tag == record.recordChangeTag, !isForced { return }
        // A deletion that is under way may have come before this record was made.
        if known.hasPendingDelete, try ext.numberOfInFlightChangeSets() > 0 { throw PageComesLater() }
        let hasRow = try ext.containsRecordID(recordID, databaseIdentifier: identifier)
        if hasRow || known.hasPendingModifications {
            return try ext.mergeRecord(record, databaseIdentifier: identifier)
        }
        if known.hasPendingDelete { return }
        let key = recordID.recordName
        for collection in blocks.collections(key) {
            var todo = Todo()
            for name in blocks.names(collection) {
                HandlerBlocks.set(name, of: &todo, to: record.object(forKey: name))
            }
            try ext.attachRecord(
                record, databaseIdentifier: identifier, forKey: key, inCollection: collection,
                shouldUploadRecord: false)
            try HandlerBlocks.store(todo, key, collection, transaction)
        }
    }

    /// The server has shown all it has.
    private func finish(
        _ full: FullFetch, _ zoneID: CKRecordZone.ID, _ identifier: String?, _ transaction: Transaction,
        _ ext: Ext
    ) throws -> [String] {
        var sentAgain: [String] = []
        let seen = Set(full.seen)
        let collections = identifier == nil ? ["todos", "days", "notes"] : ["others"]
        for collection in collections {
            for key in try transaction.allKeys(inCollection: collection).sorted() where !seen.contains(key) {
                guard let recordID = try ext.recordID(forKey: key, inCollection: collection)?.recordID else {
                    continue
                }
                try requireCertainty(of: recordID, identifier, ext)
                let known = try ext.recordChangeTag(forRecordID: recordID, databaseIdentifier: identifier)
                guard known.recordChangeTag != nil else { continue }
                if full.reason == .reset {
                    try sendAgain(key, transaction, ext)
                    sentAgain.append(key)
                } else {
                    try delete(recordID, identifier, transaction, ext)
                }
            }
        }
        return sentAgain
    }

    /// The server lost a record that this device has: it goes up as a new one.
    private func sendAgain(_ key: String, _ transaction: Transaction, _ ext: Ext) throws {
        let collections = try blocks.collections(key).filter {
            try transaction.object(forKey: key, inCollection: $0) != nil
        }
        for collection in collections {
            try ext.detachRecord(
                forKey: key, inCollection: collection, wasRemoteDeletion: true, shouldUploadDeletion: false)
        }
        for collection in collections { try transaction.touchObject(forKey: key, inCollection: collection) }
    }
}
