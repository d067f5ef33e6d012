import CloudStore
import CloudWire
import SQLite

/// Recounts what a store's file says twice: counters, references, usage, the files that records hold, indexes. It reads
/// the tables by themselves, and shares with the product the form of a record's fields and what an index makes of them.
public struct StoreAudit {
    /// Where a record is.
    struct Place: Hashable, Comparable, CustomStringConvertible {
        let scope: Int64
        let owner: String
        let zone: String
        let name: String

        var description: String { "\(scope)/\(owner)/\(zone)/\(name)" }

        static func < (left: Place, right: Place) -> Bool { left.description < right.description }
    }

    struct Record {
        let place: Place
        let type: String
        let isDeleted: Bool
        let counter: Int64
        let parent: String?
        let creator: String
        let fields: [String: Field]
        /// As the service sees it.
        let row: StoredRecord

        var bytes: Int { row.fields.count }
    }

    let connection: Connection
    /// Which zone's rows stand at a place: scope, owner, place.
    private var places: [[String]: String] = [:]
    /// Places whose rows only wait to go.
    private var cleared: Set<[String]> = []
    /// Tombstones among them.
    private(set) var records: [Record] = []
    private(set) var findings: [String] = []

    /// What doesn't fit in the file at `path`, in words; nothing in a sound one. The file may be in use.
    ///
    /// - Parameter mayHaveEarlierTombstones: whether the file was written by a version that didn't count the names of
    ///   tombstones.
    public static func findings(path: String, mayHaveEarlierTombstones: Bool = false) throws -> [String] {
        var options = OpenOptions()
        options.create = false
        let connection = try Connection(path: path, options: options)
        defer { try? connection.close() }
        var audit = StoreAudit(connection: connection)
        return try connection.transaction(.deferred) {
            try audit.run(mayHaveEarlierTombstones: mayHaveEarlierTombstones)
        }
    }

    init(connection: Connection) { self.connection = connection }

    private mutating func run(mayHaveEarlierTombstones: Bool) throws -> [String] {
        let checks = try rows("PRAGMA integrity_check", columns: 1)
        if checks != [["ok"]] { findings += checks.map { $0.joined() } }
        try readPlaces()
        try readRecords()
        try checkCounters()
        try checkReferences()
        try checkAssets()
        try checkUsage()
        try checkAnswers()
        try checkRows()
        try checkSubscriptions()
        try checkSchema()
        try checkIndexes()
        checkTombstones(mayBeUncounted: mayHaveEarlierTombstones)
        try checkChecksums()
        return findings
    }

    // MARK: Reading

    mutating func find(_ isWrong: Bool, _ words: @autoclosure () -> String) {
        if isWrong { findings.append(words()) }
    }

    /// All rows of a query, each value as text; NULL is empty, bytes are hexadecimal when the query says so.
    func rows(_ sql: String, columns: Int32) throws -> [[String]] {
        try connection.withStatement(sql) { statement in
            var rows: [[String]] = []
            while try statement.step() { rows.append((0..<columns).map { statement.text(at: $0) }) }
            return rows
        }
    }

    private mutating func readPlaces() throws {
        for row in try rows("SELECT scope, owner, place, zone FROM zonePlaces", columns: 4) {
            places[Array(row.prefix(3))] = row[3]
            find(
                Array(row[0...1]) + [row[3]] == Array(row.prefix(3)),
                "zone \(row): its own name is no other place")
        }
        cleared = Set(try rows("SELECT scope, owner, place FROM clearings", columns: 3))
        for place in cleared.intersection(places.keys) {
            findings.append("place \(place) is cleared and in use")
        }
    }

    /// Rows that begin with scope, owner and place, with the zone there; without those that only wait to go.
    func placed(_ rows: [[String]]) -> [[String]] {
        rows.compactMap { row in
            let place = Array(row.prefix(3))
            guard !cleared.contains(place) else { return nil }
            return place.dropLast() + [places[place] ?? row[2]] + row.dropFirst(3)
        }
    }

    private static let fields = """
        CASE WHEN fieldsRow IS NULL THEN fields ELSE (SELECT l.fields FROM largeFields AS l WHERE l.id = fieldsRow) END
        """

    private mutating func readRecords() throws {
        let sql = """
            SELECT scope, owner, zone, name, type, isDeleted, counter, parent, createdUser,
            \(Self.fields), tagEpoch,
            createdMilliseconds, createdDevice, modifiedUser, modifiedMilliseconds, modifiedDevice, indexBytes
            FROM records
            """
        var read: [Record] = []
        var damaged: [String] = []
        try connection.withStatement(sql) { statement in
            while try statement.step() {
                let zone = placed([(0..<3).map { statement.text(at: $0) }]).first?[2]
                guard let zone else { continue }
                let place = Place(
                    scope: statement.int64(at: 0), owner: statement.text(at: 1), zone: zone,
                    name: statement.text(at: 3))
                let row = row(at: place, from: statement)
                let fields = row.isDeleted ? [:] : try? FieldsBinary.decode(row.fields)
                if fields == nil { damaged.append("\(place): the fields can't be read") }
                if row.isDeleted && !row.fields.isEmpty {
                    damaged.append("\(place): a tombstone with fields")
                }
                read.append(
                    Record(
                        place: place, type: row.recordType, isDeleted: row.isDeleted, counter: row.counter,
                        parent: row.parent, creator: row.created.userRecordName, fields: fields ?? [:],
                        row: row))
            }
        }
        records = read
        findings += damaged
    }

    private func row(at place: Place, from statement: borrowing Statement) -> StoredRecord {
        let database: StoredDatabaseKey =
            place.scope == 1 ? .publicDatabase : .privateDatabase(of: place.owner)
        let zone = ZoneKey(database: database, zoneName: place.zone)
        func stamp(user: Int32, milliseconds: Int32, device: Int32) -> StoreStamp {
            StoreStamp(
                timestampMilliseconds: statement.int64(at: milliseconds),
                userRecordName: statement.text(at: user), deviceID: statement.text(at: device))
        }
        var row = StoredRecord(
            key: RecordKey(zone: zone, recordName: place.name), recordType: statement.text(at: 4),
            isDeleted: statement.int64(at: 5) != 0, tagEpoch: UInt64(bitPattern: statement.int64(at: 10)),
            counter: statement.int64(at: 6), parent: statement.isNull(at: 7) ? nil : statement.text(at: 7),
            created: stamp(user: 8, milliseconds: 11, device: 12),
            modified: stamp(user: 13, milliseconds: 14, device: 15), fields: statement.bytes(at: 9))
        row.indexBytes = statement.int64(at: 16)
        return row
    }

    // MARK: Counters

    private mutating func checkCounters() throws {
        let zones = try rows(
            "SELECT scope, owner, zone, counter, tombstoneFloor, databaseCounter, isDeleted FROM zones",
            columns: 7)
        let databases = try rows("SELECT scope, owner, counter FROM databases", columns: 3)
        var databaseCounters: [[String]: Int64] = [:]
        for row in databases { databaseCounters[[row[0], row[1]]] = Int64(row[2]) ?? 0 }
        var taken: [[String]: [Int64]] = [:]
        var zoneRows: [[String]: [String]] = [:]
        for row in zones {
            let database = [row[0], row[1]]
            let counter = Int64(row[5]) ?? 0
            zoneRows[[row[0], row[1], row[2]]] = row
            find(
                databaseCounters[database].map { counter > $0 } ?? true,
                "zone \(row): ahead of its database's counter")
            taken[database, default: []].append(counter)
        }
        for (database, counters) in taken where Set(counters).count < counters.count {
            findings.append("database \(database): two zones share a number: \(counters.sorted())")
        }
        var numbers: [[String]: [Int64]] = [:]
        for record in records {
            let zone = ["\(record.place.scope)", record.place.owner, record.place.zone]
            guard record.place.zone != ZoneID.defaultZoneName else {
                find(record.isDeleted, "\(record.place): a tombstone in a zone without a feed")
                find(record.counter != 0, "\(record.place): counted in a zone without a feed")
                continue
            }
            guard let row = zoneRows[zone], row[6] == "0" else {
                findings.append("\(record.place): without a zone")
                continue
            }
            find(record.counter > Int64(row[3]) ?? 0, "\(record.place): ahead of its zone's counter")
            find(record.counter <= 0, "\(record.place): not in the feed")
            find(
                record.isDeleted && record.counter <= Int64(row[4]) ?? 0,
                "\(record.place): a tombstone below the floor")
            numbers[zone, default: []].append(record.counter)
        }
        for (zone, counters) in numbers where Set(counters).count < counters.count {
            findings.append("zone \(zone): two records share a number")
        }
    }

    // MARK: References

    private mutating func checkReferences() throws {
        let expected = records.filter { !$0.isDeleted }.reduce(into: Set<[String]>()) {
            $0.formUnion(references(of: $1))
        }
        let sql = "SELECT scope, owner, zone, target, source, kind FROM recordReferences"
        let found = Set(placed(try rows(sql, columns: 6)))
        compare(found, expected, "reference")
        let there = Set(records.filter { !$0.isDeleted }.map(\.place))
        for row in expected where row[5] != "1" {
            let target = Place(scope: Int64(row[0]) ?? 0, owner: row[1], zone: row[2], name: row[3])
            find(!there.contains(target), "\(row[4]) holds on to \(target), which is gone")
        }
    }

    /// The rows of a record's references that bind.
    func references(of record: Record) -> Set<[String]> {
        let place = record.place
        var rows: Set<[String]> = []
        func add(_ target: String, _ kind: Int) {
            rows.insert(["\(place.scope)", place.owner, place.zone, target, place.name, "\(kind)"])
        }
        func add(_ value: FieldValue?) {
            switch value {
            case .reference(let reference)?:
                if reference.action == .deleteSelf { add(reference.recordName, 1) }
                if reference.action == .validate { add(reference.recordName, 2) }
            case .list(_, let values)?: values.forEach(add)
            default: break
            }
        }
        record.fields.values.forEach { add($0.value) }
        if let parent = record.parent { add(parent, 3) }
        return rows
    }

    mutating func compare(_ found: Set<[String]>, _ expected: Set<[String]>, _ what: String) {
        for row in found.subtracting(expected).map({ "\($0)" }).sorted() {
            findings.append("\(what) \(row) should not be there")
        }
        for row in expected.subtracting(found).map({ "\($0)" }).sorted() {
            findings.append("\(what) \(row) is missing")
        }
    }

    // MARK: Subscriptions and pushes

    private mutating func checkSubscriptions() throws {
        let counted = try rows(
            """
            SELECT d.scope, d.owner, d.subscriptions, count(s.id) FROM databases AS d LEFT JOIN subscriptions AS s
            ON s.scope = d.scope AND s.owner = d.owner AND s.type IS NULL GROUP BY d.scope, d.owner
            """, columns: 4)
        for row in counted where row[0] == "2" {
            find(
                row[2] != row[3],
                "database \(row[0])/\(row[1]) counts \(row[2]) subscriptions and has \(row[3])")
        }
        try checkWatches()
        let lost = try rows(
            """
            SELECT p.user, p.device FROM pushes AS p LEFT JOIN devices AS d ON d.user = p.user AND d.device = p.device
            WHERE d.user IS NULL
            """, columns: 2)
        findings += lost.map { "a push waits for \($0), which is no device" }
    }

    /// Query subscriptions are counted by the type that they watch, and numbered.
    private mutating func checkWatches() throws {
        var counted: [[String]: [String]] = [:]
        for row in try rows("SELECT scope, owner, type, count, lastNumber FROM watches", columns: 5) {
            counted[Array(row.prefix(3))] = Array(row.suffix(2))
        }
        let sql = "SELECT scope, owner, type, number FROM subscriptions WHERE type IS NOT NULL"
        var numbers: [[String]: [Int64]] = [:]
        for row in try rows(sql, columns: 4) {
            numbers[Array(row.prefix(3)), default: []].append(Int64(row[3]) ?? 0)
        }
        for key in Set(counted.keys).union(numbers.keys).sorted(by: { "\($0)" < "\($1)" }) {
            let (count, found) = (counted[key] ?? ["0", "0"], numbers[key] ?? [])
            find(
                Int(count[0]) != found.count, "\(key) counts \(count[0]) who watch it and has \(found.count)")
            find(Set(found).count < found.count, "\(key): two who watch it share a number: \(found.sorted())")
            find(
                found.contains { $0 > Int64(count[1]) ?? 0 }, "\(key): who watches it is ahead of \(count[1])"
            )
        }
    }
}
