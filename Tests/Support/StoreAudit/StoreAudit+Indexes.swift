import CloudService
import CloudStore
import SQLite

/// By what records are found, held against what the service makes of each.
extension StoreAudit {
    /// A record in the indexes: its part's number and its name.
    private struct Row: Hashable {
        let part: Int64
        let name: String
    }

    /// What the two tables of entries say.
    private struct Indexes {
        var listed: [Row: [UInt8]] = [:]
        var entries: [Row: [StoredIndexEntry]] = [:]
    }

    mutating func checkIndexes() throws {
        let work = try indexWork()
        let demand = try IndexDemand(schema: try schema() ?? .initial, work: work)
        let uncounted = Set(work.map(\.recordType))
        let parts = try parts()
        var indexes = try indexes()
        for record in records where !record.isDeleted {
            let place = record.place
            guard let part = parts[[place.scope.description, place.owner, place.zone, record.type]],
                let listed = indexes.listed.removeValue(forKey: Row(part: part, name: place.name))
            else {
                find(true, "\(place): the indexes have no row of it")
                continue
            }
            let entries = (indexes.entries.removeValue(forKey: Row(part: part, name: place.name)) ?? [])
                .sorted()
            find(bytes(of: entries) != listed, "\(place): its entries are not those that its row lists")
            // A file of an earlier version is counted by the work that is left.
            find(
                record.row.indexBytes
                    != countedBytes(entries, place.name) + countedNameBytes(of: record)
                    + countedReferenceBytes(of: record) + countedFileBytes(of: record)
                    && !uncounted.contains(record.type),
                "\(place): its names, entries, references and files' rows count as \(record.row.indexBytes) bytes"
            )
            find(
                !demand.isMet(by: entries, of: record.row),
                "\(place): its entries are not those that the schema asks for")
        }
        // What only waits to go agrees with itself.
        let waiting = try waitingParts()
        let left = Set(indexes.listed.keys).union(indexes.entries.keys).filter { !waiting.contains($0.part) }
        for row in left.sorted(by: { ($0.part, $0.name) < ($1.part, $1.name) }) {
            find(true, "part \(row.part) of the indexes has \(row.name), which is not there")
        }
    }

    /// - Parameter mayBeUncounted: whether an earlier version may have left tombstones, whose names don't count.
    mutating func checkTombstones(mayBeUncounted: Bool) {
        for record in records where record.isDeleted {
            let counted = record.row.indexBytes
            find(
                counted != countedNameBytes(of: record) && !(mayBeUncounted && counted == 0),
                "\(record.place): a tombstone whose names count as \(counted) bytes")
        }
    }

    private func indexWork() throws -> [IndexWorkRow] {
        try connection.withStatement("SELECT type, content FROM indexWork") { statement in
            var rows: [IndexWorkRow] = []
            while try statement.step() {
                rows.append(IndexWorkRow(recordType: statement.text(at: 0), content: statement.bytes(at: 1)))
            }
            return rows
        }
    }

    /// The numbers of a type's records in a zone.
    private func parts() throws -> [[String]: Int64] {
        var parts: [[String]: Int64] = [:]
        for row in placed(try rows("SELECT scope, owner, zone, type, id FROM indexParts", columns: 5)) {
            parts[Array(row.prefix(4))] = Int64(row[4])
        }
        return parts
    }

    private func waitingParts() throws -> Set<Int64> {
        let sql = """
            SELECT p.id FROM indexParts AS p JOIN clearings AS c
            ON c.scope = p.scope AND c.owner = p.owner AND c.place = p.zone
            """
        return Set(try rows(sql, columns: 1).compactMap { Int64($0[0]) })
    }

    private func indexes() throws -> Indexes {
        var indexes = Indexes()
        try connection.withStatement("SELECT part, name, entries FROM indexedRecords") { statement in
            while try statement.step() {
                let row = Row(part: statement.int64(at: 0), name: statement.text(at: 1))
                indexes.listed[row] = statement.bytes(at: 2)
            }
        }
        try connection.withStatement("SELECT part, name, field, kind, value FROM indexEntries") { statement in
            while try statement.step() {
                let row = Row(part: statement.int64(at: 0), name: statement.text(at: 1))
                guard let kind = StoredIndexEntry.Kind(rawValue: statement.int64(at: 3)) else { continue }
                indexes.entries[row, default: []].append(
                    StoredIndexEntry(field: statement.text(at: 2), kind: kind, value: statement.bytes(at: 4)))
            }
        }
        return indexes
    }

    /// What entries count as: `docs/DISK_FORMAT.md`.
    private func countedBytes(_ entries: [StoredIndexEntry], _ name: String) -> Int64 {
        entries.reduce(0) { $0 + Int64(2 * ($1.field.utf8.count + $1.value.count) + name.utf8.count + 48) }
    }

    /// What names count as, three times owner, zone and name, and the type: the same page.
    private func countedNameBytes(of record: Record) -> Int64 {
        let place = record.place
        return Int64(3 * (place.owner + place.zone + place.name).utf8.count + record.type.utf8.count)
    }

    /// What files' rows count as, twice owner, zone, name and digest, and 48: the same page.
    private func countedFileBytes(of record: Record) -> Int64 {
        let place = record.place
        let row = 2 * ((place.owner + place.zone + place.name).utf8.count + 32) + 48
        return Int64(files(of: record).count * row)
    }

    /// What references count as, twice owner, zone, target and source: the same page.
    private func countedReferenceBytes(of record: Record) -> Int64 {
        references(of: record).reduce(0) { $0 + Int64(2 * $1[1...4].joined().utf8.count + 48) }
    }

    /// Entries as a record's row lists them: `docs/DISK_FORMAT.md`.
    private func bytes(of entries: [StoredIndexEntry]) -> [UInt8] {
        var bytes: [UInt8] = []
        func append(_ part: [UInt8]) {
            var length = part.count
            while length > 127 {
                bytes.append(UInt8(length % 128 + 128))
                length /= 128
            }
            bytes.append(UInt8(length))
            bytes += part
        }
        for entry in entries {
            append(Array(entry.field.utf8))
            bytes.append(UInt8(entry.kind.rawValue))
            append(entry.value)
        }
        return bytes
    }
}
