import CloudStore
import SQLite
import System
import Yap

/// A store under test: opened on a file through a VFS, changed by whole commits, read back.
protocol Subject: AnyObject {
    static var name: String { get }

    /// Opens the file, through the operating system's VFS when `vfsName` is `nil`.
    init(path: String, vfsName: String?, isDurable: Bool) throws

    /// Commits all of `changes` in one transaction; throws `Abandoned` after making them when `isAbandoned`.
    func commit(_ changes: [Change], isAbandoned: Bool) throws

    /// What it reads now. Throws `Inconsistency` when parts of one commit contradict each other.
    func state() throws -> State

    /// Closes what can be closed before the object goes.
    func close() throws
}

/// What a transaction's closure throws to be rolled back.
struct Abandoned: Error {}

/// Rows that no whole commit could have left.
struct Inconsistency: Error {
    let words: String
}

/// Yap, with one connection that keeps its caches from commit to commit.
final class YapSubject: Subject {
    static let name = "Yap"

    private let database: YapDatabase
    private let connection: YapDatabaseConnection
    private let observedCount = Lock(0)
    private var committedCount = 0

    init(path: String, vfsName: String?, isDurable: Bool) throws {
        var options = YapDatabaseOptions()
        options.vfsName = vfsName
        options.durability = isDurable ? .full : .normal
        options.busyTimeoutMilliseconds = 0
        database = try YapDatabase(path: path, options: options) { configuration in
            for collection in ["a", "b", "c"] {
                configuration.register(String.self, metadata: Int.self, inCollection: collection)
            }
        }
        connection = database.newConnection()
        try database.blocking.register(RowTally(), withName: "tally")
        database.addInlineCommitObserver { [observedCount] commit in
            if !commit.isExternal { observedCount.withLock { $0 += 1 } }
        }
    }

    func commit(_ changes: [Change], isAbandoned: Bool) throws {
        try connection.blocking.readWrite { transaction in
            for change in changes {
                switch change {
                case .set(let collection, let key, let value):
                    try transaction.setObject(
                        value, metadata: value.utf8.count, forKey: key, inCollection: collection)
                case .remove(let collection, let key):
                    try transaction.removeObject(forKey: key, inCollection: collection)
                case .clear(let collection):
                    try transaction.removeAllObjects(inCollection: collection)
                }
            }
            if isAbandoned { throw Abandoned() }
        }
        committedCount += 1
    }

    func state() throws -> State {
        guard observedCount.withLock({ $0 }) == committedCount else {
            throw Inconsistency(
                words: "observers were not told of each commit that succeeded, and of no other")
        }
        let state = try connection.blocking.read { transaction in
            guard transaction.snapshot == database.snapshot else {
                throw Inconsistency(
                    words: "snapshot \(database.snapshot), but \(transaction.snapshot) on disk")
            }
            return try Self.state(transaction)
        }
        // The writer has caches of its own.
        let written = try connection.blocking.readWrite { try Self.state($0) }
        if let words = difference(written, from: state) {
            throw Inconsistency(words: "to the writer \(words)")
        }
        return state
    }

    private static func state(_ transaction: YapDatabaseReadTransaction) throws -> State {
        var state: State = [:]
        for collection in try transaction.allCollections() {
            for key in try transaction.allKeys(inCollection: collection) {
                let value = try transaction.object(String.self, forKey: key, inCollection: collection)
                let size = try transaction.metadata(Int.self, forKey: key, inCollection: collection)
                guard let value, size == value.utf8.count else {
                    throw Inconsistency(words: "\(collection)/\(key) has another's metadata")
                }
                state[collection, default: [:]][key] = value
            }
        }
        let tally = try transaction.ext("tally", as: RowTally.self)
        for collection in ["a", "b", "c"] {
            let counts = [try tally.count(collection), try tally.storedCount(collection)]
            guard counts == [state[collection]?.count ?? 0, state[collection]?.count ?? 0] else {
                throw Inconsistency(words: "the extension counts \(counts) rows in \(collection)")
            }
        }
        return state
    }

    func close() throws {
        try database.blocking.close()
        // A connection closes its own handle when it finds the database closed.
        _ = try? connection.blocking.read { _ in }
    }
}

/// The service's store: a zone for a collection, a record for a key, a reference from each record to one root.
final class CloudStoreSubject: Subject {
    static let name = "CloudStore"

    private let database = StoredDatabaseKey.privateDatabase(of: "owner")
    private let store: SQLiteCloudStore

    init(path: String, vfsName: String?, isDurable: Bool) throws {
        var options = OpenOptions()
        options.vfsName = vfsName
        options.synchronous = isDurable ? .full : .normal
        options.busyTimeoutMilliseconds = 0
        store = try SQLiteCloudStore(path: path, options: options)
    }

    func commit(_ changes: [Change], isAbandoned: Bool) throws {
        try store.write { writer in
            try writer.member {
                for change in changes { try apply(change, writer) }
            }
            if isAbandoned { throw Abandoned() }
        }
    }

    func state() throws -> State {
        try store.read { reader in
            var state: State = [:]
            let zones = try reader.changedZones(in: database, after: 0, deletedAfter: 0, zonesMax: 100)
            for zone in zones.rows {
                let query = RecordChangesQuery(
                    zone: zone.key, after: 0, tombstonesAfter: 0, recordsMax: 10_000, bytesMax: 100 << 20)
                let records = try reader.changedRecords(query).rows
                var load = StoreLoad()
                load.dependantsOf = [root(zone.key)]
                let dependants = try reader.load(load).dependants[root(zone.key)] ?? []
                let live = records.filter { !$0.isDeleted }
                guard dependants.map(\.sourceName) == live.map(\.key.recordName).sorted() else {
                    throw Inconsistency(words: "records and references of \(zone.key.zoneName) differ")
                }
                guard (records.map(\.counter).max() ?? zone.counter) == zone.counter else {
                    throw Inconsistency(words: "the counter of \(zone.key.zoneName) is not the last record's")
                }
                for record in live {
                    state[zone.key.zoneName, default: [:]][record.key.recordName] =
                        String(decoding: record.fields, as: UTF8.self)
                }
            }
            return state
        }
    }

    func close() throws {}

    private func root(_ zone: ZoneKey) -> RecordKey { RecordKey(zone: zone, recordName: "root") }

    private func apply(_ change: Change, _ writer: any CloudStoreWriter) throws {
        switch change {
        case .set(let zone, let name, let value):
            try write(name, zone, fields: Array(value.utf8), isDeleted: false, writer)
        case .remove(let zone, let name):
            try write(name, zone, fields: [], isDeleted: true, writer)
        case .clear(let zone):
            var changes = StoreChanges()
            changes.clearedZones = [ZoneKey(database: database, zoneName: zone)]
            try writer.apply(changes)
        }
    }

    private func write(
        _ name: String, _ zoneName: String, fields: [UInt8], isDeleted: Bool, _ writer: any CloudStoreWriter
    ) throws {
        let key = RecordKey(zone: ZoneKey(database: database, zoneName: zoneName), recordName: name)
        var load = StoreLoad()
        load.databases = [database]
        load.zones = [key.zone]
        load.records = [key]
        let loaded = try writer.load(load)
        var feed = loaded.databases[database] ?? DatabaseRow(key: database, epoch: 1, counter: 0)
        feed.counter += 1
        var zone = loaded.zones[key.zone] ?? ZoneRow(key: key.zone, epoch: 2)
        zone.counter += 1
        zone.databaseCounter = feed.counter
        let wasLive = loaded.records[key].map { !$0.isDeleted } ?? false
        let reference = ReferenceRow(target: root(key.zone), sourceName: name, kind: .deleteSelf)
        let stamp = StoreStamp(timestampMilliseconds: 1, userRecordName: "owner", deviceID: "device")
        var changes = StoreChanges()
        changes.databases = [feed]
        changes.zones = [zone]
        if wasLive && isDeleted { changes.removedReferences = [reference] }
        if !wasLive && !isDeleted { changes.addedReferences = [reference] }
        changes.records = [
            StoredRecord(
                key: key, recordType: "Row", isDeleted: isDeleted, tagEpoch: 2, counter: zone.counter,
                created: stamp, modified: stamp, fields: fields)
        ]
        try writer.apply(changes)
    }
}
