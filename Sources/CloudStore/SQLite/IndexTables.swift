import SQLite

/// Index entries of records, and pending work on indexes. Owns `indexParts`, `indexedRecords`, `indexEntries` and
/// `indexWork`. A part is a type in a zone.
final class IndexTables {
    /// Numbers of the parts that the transaction has used.
    var knownParts: [IndexPartKey: Int64] = [:]
    let connection: Connection
    let places: ZonePlaces
    private var records: RecordTable { RecordTable(connection: connection, places: places) }

    init(_ connection: Connection, _ places: ZonePlaces) {
        self.connection = connection
        self.places = places
    }

    /// Discards the known numbers, after other code has changed the tables.
    func forget() { knownParts = [:] }

    func find(_ scan: IndexScan) throws -> ChangesPage<IndexHit> {
        var page = ChangesPage<IndexHit>(rows: [], moreComing: false)
        guard let part = try part(of: scan.zone, scan.recordType, makes: false) else { return page }
        let scan = scan.withOneStart
        let isOfNames = scan.source == .names
        let columns =
            (isOfNames ? "e.name, e.name" : "e.value, e.name")
            + (scan.withRecords ? ", " + RecordTable.columns : "")
        let join = scan.withRecords ? RecordTable.joinByName : ""
        let sql = scanSQL(scan, columns: columns, join: join, isOrdered: true)
        try connection.withStatement(sql) { statement in
            try bind(scan, part: part, rowsMax: scan.rowsMax, to: statement)
            if scan.withRecords { try records.bindJoin(scan.zone, to: statement) }
            var bytes = 0
            while try statement.step() {
                guard page.rows.count < scan.rowsMax, bytes < scan.bytesMax else {
                    page.moreComing = true
                    break
                }
                let name = statement.text(at: 1)
                let record =
                    scan.withRecords
                    ? records.row(RecordKey(zone: scan.zone, recordName: name), from: statement, at: 2) : nil
                bytes += record?.fields.count ?? 0
                let position = IndexPosition(value: statement.bytes(at: 0), recordName: name)
                page.rows.append(IndexHit(position: position, record: record))
            }
        }
        return page
    }

    func count(_ scan: IndexScan, max: Int) throws -> Int {
        guard let part = try part(of: scan.zone, scan.recordType, makes: false) else { return 0 }
        let scan = scan.withOneStart
        let sql = "SELECT count(*) FROM (" + scanSQL(scan, columns: "1", join: "", isOrdered: false) + ")"
        return try connection.withStatement(sql) { statement in
            try bind(scan, part: part, rowsMax: max - 1, to: statement)
            return Int(try statement.firstInt64())
        }
    }

    func records(
        ofType recordType: String, after: RecordKey?, recordsMax: Int, bytesMax: Int
    ) throws -> ChangesPage<StoredRecord> {
        var page = ChangesPage<StoredRecord>(rows: [], moreComing: false)
        var bytes = 0
        var next = after?.zone
        while true {
            // The number of users may be very large, and most of them may have no records left.
            let found = try partPlaces(ofType: recordType, from: next, placesMax: Self.placesMax)
            for place in found {
                // All of the previous places have been read.
                guard let zone = try places.zone(at: place), place != next || zone == after?.zone
                else { continue }
                var scan = IndexScan(
                    zone: zone, recordType: recordType, source: .names, rowsMax: recordsMax - page.rows.count)
                scan.withRecords = true
                scan.bytesMax = bytesMax - bytes
                if let after, after.zone == zone {
                    scan.after = IndexPosition(
                        value: Array(after.recordName.utf8), recordName: after.recordName)
                }
                guard scan.rowsMax > 0, scan.bytesMax > 0 else {
                    page.moreComing = true
                    return page
                }
                let hits = try find(scan)
                page.rows += hits.rows.compactMap(\.record)
                bytes += hits.rows.reduce(0) { $0 + ($1.record?.fields.count ?? 0) }
                if hits.moreComing {
                    page.moreComing = true
                    return page
                }
            }
            guard found.count == Self.placesMax else { return page }
            next = found.last
        }
    }

    /// Number of zones that are looked up together.
    private static let placesMax = 256

    func entries(of key: RecordKey, recordType: String) throws -> [StoredIndexEntry]? {
        guard let part = try part(of: key.zone, recordType, makes: false) else { return nil }
        return try storedEntries(part: part, name: key.recordName)
    }

    func work(typesMax: Int) throws -> [IndexWorkRow] {
        try connection.withStatement("SELECT type, content FROM indexWork ORDER BY type LIMIT ?1") {
            statement in
            try statement.bind(typesMax, at: 1)
            return try statement.rows { IndexWorkRow(recordType: $0.text(at: 0), content: $0.bytes(at: 1)) }
        }
    }

    func load(_ wanted: StoreLoad, into loaded: inout StoreLoaded) throws {
        for type in wanted.indexWorkOf {
            try connection.withStatement("SELECT content FROM indexWork WHERE type = ?1") { statement in
                try statement.bind(type, at: 1)
                guard try statement.step() else { return }
                loaded.indexWork[type] = IndexWorkRow(recordType: type, content: statement.bytes(at: 0))
            }
        }
    }

    // MARK: - Writing

    /// Call it before the records are written, while deleted records still exist.
    func apply(_ changes: StoreChanges, _ rows: WrittenRows) throws {
        let written = Set(changes.records.lazy.map(\.key))
        for key in changes.removedRecords {
            try dropEntries(of: key, recordType: try records.type(of: key))
            try rows.check()
        }
        for row in changes.records where row.isDeleted {
            try dropEntries(of: row.key, recordType: row.recordType)
            try rows.check()
        }
        for row in changes.indexes {
            try write(row)
            if !written.contains(row.key) { try records.setIndexBytes(row.countedBytes, of: row.key) }
            try rows.check()
        }
        for row in changes.indexWork { try write(row) }
    }

    private func write(_ row: RecordIndexRow) throws {
        guard let part = try part(of: row.key.zone, row.recordType, makes: true) else { return }
        let name = row.key.recordName
        let old = try storedEntries(part: part, name: name)
        if let old {
            guard old != row.entries else { return }
            try remove(IndexEntryBytes.difference(old, row.entries), part: part, name: name)
        }
        let added = old.map { IndexEntryBytes.difference(row.entries, $0) } ?? row.entries
        let insert =
            "INSERT OR REPLACE INTO indexEntries (part, field, kind, value, name) VALUES (?1, ?2, ?3, ?4, ?5)"
        try run(insert, added, part: part, name: name)
        try store(row.entries, part: part, name: name)
    }

    /// Writes the list of a record's entries.
    private func store(_ entries: [StoredIndexEntry], part: Int64, name: String) throws {
        try connection.withStatement(
            "INSERT OR REPLACE INTO indexedRecords (part, name, entries) VALUES (?1, ?2, ?3)"
        ) { statement in
            try statement.bind(part, name, at: 1)
            try statement.binding(IndexEntryBytes.encode(entries), at: 3) { try statement.run() }
        }
    }

    private func write(_ row: IndexWorkRow) throws {
        let isDone = row.content.isEmpty
        let sql =
            isDone
            ? "DELETE FROM indexWork WHERE type = ?1"
            : "INSERT OR REPLACE INTO indexWork (type, content) VALUES (?1, ?2)"
        try connection.run(sql) { statement in
            try statement.bind(row.recordType, at: 1)
            if !isDone { try statement.bind(row.content, at: 2) }
        }
    }

    /// Removes a record's entries, or only the first `max` of them.
    ///
    /// - Returns: The number of removed entries, and whether none is left.
    @discardableResult
    func dropEntries(
        of key: RecordKey, recordType: String?, max: Int = .max
    ) throws -> (count: Int, isDone: Bool) {
        guard let recordType, let part = try part(of: key.zone, recordType, makes: false),
            let entries = try storedEntries(part: part, name: key.recordName)
        else { return (0, true) }
        if entries.count > max {
            try remove(Array(entries.prefix(max)), part: part, name: key.recordName)
            try store(Array(entries.dropFirst(max)), part: part, name: key.recordName)
            return (max, false)
        }
        try remove(entries, part: part, name: key.recordName)
        try connection.run("DELETE FROM indexedRecords WHERE part = ?1 AND name = ?2") { statement in
            try statement.bind(part, key.recordName, at: 1)
        }
        return (entries.count, true)
    }

    /// Removes the types of a place and the rest of their entries.
    func removeAll(at place: ZoneKey) throws {
        let sql = "SELECT id FROM indexParts WHERE scope = ?1 AND owner = ?2 AND zone = ?3"
        let parts = try connection.withStatement(sql) { statement in
            try statement.bind(place)
            return try statement.rows { $0.int64(at: 0) }
        }
        for part in parts {
            for sql in [
                "DELETE FROM indexEntries WHERE part = ?1", "DELETE FROM indexedRecords WHERE part = ?1",
                "DELETE FROM indexParts WHERE id = ?1",
            ] {
                try connection.run(sql) { try $0.bind(part, at: 1) }
            }
        }
    }

    private func remove(_ entries: [StoredIndexEntry], part: Int64, name: String) throws {
        let sql =
            "DELETE FROM indexEntries WHERE part = ?1 AND field = ?2 AND kind = ?3 AND value = ?4 AND name = ?5"
        try run(sql, entries, part: part, name: name)
    }

    private func run(_ sql: String, _ entries: [StoredIndexEntry], part: Int64, name: String) throws {
        guard !entries.isEmpty else { return }
        try connection.withStatement(sql) { statement in
            try statement.bind(part, at: 1)
            try statement.bind(name, at: 5)
            for entry in entries {
                try statement.bind(entry.field, entry.kind.rawValue, at: 2)
                try statement.binding(entry.value, at: 4) { try statement.run() }
            }
        }
    }

    // MARK: - Reading

    /// Returns the number of a type's records in a zone, or nil if the type never had records there, unless `makes` is
    /// true.
    private func part(of zone: ZoneKey, _ recordType: String, makes: Bool) throws -> Int64? {
        let key = IndexPartKey(zone: zone, recordType: recordType)
        if let known = knownParts[key] { return known }
        var sql = "SELECT id FROM indexParts WHERE scope = ?1 AND owner = ?2 AND zone = ?3 AND type = ?4"
        func ask() throws -> Int64? {
            try connection.withStatement(sql) { statement in
                try places.bind(zone, to: statement)
                try statement.bind(recordType, at: 4)
                return try statement.step() ? statement.int64(at: 0) : nil
            }
        }
        var part = try ask()
        if part == nil && makes {
            sql = "INSERT INTO indexParts (scope, owner, zone, type) VALUES (?1, ?2, ?3, ?4) RETURNING id"
            part = try ask()
        }
        knownParts[key] = part
        return part
    }

    private func partPlaces(
        ofType recordType: String, from place: ZoneKey?, placesMax: Int
    ) throws -> [ZoneKey] {
        let sql = """
            SELECT scope, owner, zone FROM indexParts
            WHERE type = ?4 AND (scope, owner, zone) >= (?1, ?2, ?3) ORDER BY scope, owner, zone
            LIMIT ?5
            """
        return try connection.withStatement(sql) { statement in
            try statement.bind(after: place)
            try statement.bind(recordType, placesMax, at: 4)
            return try statement.rows { try connection.zoneKey(from: $0, at: 0) }
        }
    }

    private func storedEntries(part: Int64, name: String) throws -> [StoredIndexEntry]? {
        let sql = "SELECT entries FROM indexedRecords WHERE part = ?1 AND name = ?2"
        return try connection.withStatement(sql) { statement in
            try statement.bind(part, name, at: 1)
            guard try statement.step() else { return nil }
            guard let entries = IndexEntryBytes.decode(statement.bytes(at: 0)) else {
                throw CloudStoreError.damaged(
                    path: connection.path, reason: "unreadable index entries of \(name)")
            }
            return entries
        }
    }

    private func scanSQL(_ scan: IndexScan, columns: String, join: String, isOrdered: Bool) -> String {
        let isOfNames = scan.source == .names
        let table = isOfNames ? "indexedRecords" : "indexEntries"
        var sql = "SELECT \(columns) FROM \(table) e \(join) WHERE e.part = ?1"
        if !isOfNames { sql += " AND e.field = ?2 AND e.kind = ?3" }
        // One lower and one upper bound: with two of a kind, SQLite would seek to one and scan to the other.
        let place = isOfNames ? "e.name" : "(e.value, e.name)"
        let value = isOfNames ? "e.name" : "e.value"
        if scan.after != nil && !scan.isDescending {
            sql += " AND \(place) > \(isOfNames ? "?5" : "(?4, ?5)")"
        } else {
            sql += " AND \(value) >= ?4"
        }
        if scan.after != nil && scan.isDescending {
            sql += " AND \(place) < \(isOfNames ? "?7" : "(?6, ?7)")"
        } else if scan.upper != nil {
            sql += " AND \(value) < ?6"
        }
        if isOrdered {
            let direction = scan.isDescending ? " DESC" : ""
            sql += " ORDER BY " + (isOfNames ? "" : "e.value\(direction), ") + "e.name\(direction)"
        }
        return sql + " LIMIT ?8"
    }

    private func bind(_ scan: IndexScan, part: Int64, rowsMax: Int, to statement: borrowing Statement) throws
    {
        try statement.bind(part, at: 1)
        var isOfNames = true
        if case .entries(let field, let kind) = scan.source {
            isOfNames = false
            try statement.bind(field, kind.rawValue, at: 2)
        }
        func bindValue(_ value: [UInt8], at index: Int32) throws {
            if isOfNames {
                try statement.bind(String(decoding: value, as: UTF8.self), at: index)
            } else {
                try statement.bind(value, at: index)
            }
        }
        if let after = scan.after {
            let first: Int32 = scan.isDescending ? 6 : 4
            if !isOfNames { try statement.bind(after.value, at: first) }
            try statement.bind(after.recordName, at: first + 1)
        }
        if scan.after == nil || scan.isDescending { try bindValue(scan.lower, at: 4) }
        if scan.after == nil || !scan.isDescending, let upper = scan.upper { try bindValue(upper, at: 6) }
        try statement.bind(Int64(rowsMax) + 1, at: 8)
    }
}

extension IndexScan {
    /// Removes `after` if it is before the range. The scan starts at the later of the two.
    fileprivate var withOneStart: IndexScan {
        guard let after else { return self }
        let isBefore =
            isDescending
            ? upper.map { !after.value.lexicographicallyPrecedes($0) } ?? false
            : after.value.lexicographicallyPrecedes(lower)
        var scan = self
        if isBefore { scan.after = nil }
        return scan
    }
}

/// The records of a type in a zone.
struct IndexPartKey: Hashable {
    let zone: ZoneKey
    let recordType: String
}
