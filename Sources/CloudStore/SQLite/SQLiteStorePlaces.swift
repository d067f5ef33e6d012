import SQLite

/// Under which names the rows of zones stand, as far as a transaction has asked.
///
/// Those of a zone stand under its own name, unless it was cleared while it had rows: from then on they stand under
/// another one, so that nobody meets the old rows, which go later.
struct ZonePlaces {
    /// False when every zone's rows stand under its own name; nil: nobody has asked.
    var areUsed: Bool?
    var known: [ZoneKey: String] = [:]

    /// Takes each name for the place itself.
    static let themselves = ZonePlaces(areUsed: false)
}

extension SQLiteStoreTransaction {
    /// No zone's name has it: names are printable.
    private static let separator: Character = "\u{1}"

    /// Holds for rows `r` of a zone that wasn't cleared.
    static let isNotCleared = """
        NOT EXISTS (SELECT 1 FROM clearings AS c WHERE c.scope = r.scope AND c.owner = r.owner AND c.place = r.zone)
        """

    /// The name under which the rows of a zone stand.
    func place(of zone: ZoneKey) throws -> String {
        if places.areUsed == nil {
            places.areUsed = try connection.withStatement("SELECT 1 FROM zonePlaces LIMIT 1") {
                try $0.step()
            }
        }
        guard places.areUsed == true else { return zone.zoneName }
        if let known = places.known[zone] { return known }
        let sql = "SELECT place FROM zonePlaces WHERE scope = ?1 AND owner = ?2 AND zone = ?3"
        let place = try connection.withStatement(sql) { statement in
            try bind(zone, to: statement)
            return try statement.step() ? statement.text(at: 0) : zone.zoneName
        }
        places.known[zone] = place
        return place
    }

    /// Binds the first three columns of a row of a zone.
    func bindPlace(of zone: ZoneKey, to statement: borrowing Statement) throws {
        try bind(zone.database, to: statement)
        try statement.bind(try place(of: zone), at: 3)
    }

    /// The zone whose rows stand at `place`; nil when they are only waiting to go.
    func zone(at place: ZoneKey) throws -> ZoneKey? {
        let name = place.zoneName.prefix { $0 != Self.separator }
        let zone = ZoneKey(database: place.database, zoneName: String(name))
        return try self.place(of: zone) == place.zoneName ? zone : nil
    }

    // MARK: - Clearing

    /// Lets nobody meet the rows of a zone from now on. They go later, in steps. What they come to is taken from the
    /// zone's row, which has to be as it was.
    func clear(_ zone: ZoneKey) throws {
        let old = ZoneKey(database: zone.database, zoneName: try place(of: zone))
        indexParts = [:]
        guard try hasRows(at: old) else { return try removeIndexParts(at: old) }
        let clearing = """
            INSERT INTO clearings (scope, owner, zone, place, records, bytes)
            SELECT ?1, ?2, ?3, ?4, coalesce(sum(records + tombstones), 0),
                coalesce(sum(recordBytes + assetBytes + indexBytes), 0)
            FROM zones WHERE scope = ?1 AND owner = ?2 AND zone = ?3 RETURNING number
            """
        let number = try connection.withStatement(clearing) { statement in
            try bind(zone, to: statement)
            try statement.bind(old.zoneName, at: 4)
            return try statement.step() ? statement.int64(at: 0) : 0
        }
        let place = "\(zone.zoneName)\(Self.separator)\(number)"
        let sql = "INSERT OR REPLACE INTO zonePlaces (scope, owner, zone, place) VALUES (?1, ?2, ?3, ?4)"
        try connection.withStatement(sql) { statement in
            try bind(zone, to: statement)
            try statement.bind(place, at: 4)
            try statement.run()
        }
        places.areUsed = true
        places.known[zone] = place
    }

    /// What the zones of a user that were cleared came to, of which rows are left, and how many they are.
    ///
    /// - Parameter zonesMax: so many are counted at most.
    func clearedSize(of key: UsageKey, zonesMax: Int) throws -> StoredSize {
        let sql = """
            SELECT coalesce(sum(records), 0), count(*), coalesce(sum(bytes), 0) FROM (
                SELECT records, bytes FROM clearings WHERE scope = ?1 AND owner = ?2 LIMIT ?3)
            """
        return try connection.withStatement(sql) { statement in
            try statement.bind(key.scope.rawValue, at: 1)
            try statement.bind(key.user, at: 2)
            try statement.bind(Int64(zonesMax), at: 3)
            guard try statement.step() else { return StoredSize() }
            return StoredSize(
                records: statement.int64(at: 0), recordBytes: statement.int64(at: 2),
                zones: statement.int64(at: 1))
        }
    }

    func hasClearedRows() throws -> Bool { try firstClearing() != nil }

    func removeClearedRows(rowsMax: Int, bytesMax: Int) throws -> Bool {
        let old = SQLiteStoreTransaction(connection, path: path, places: .themselves)
        var left = ClearingLeft(rows: rowsMax, bytes: Int64(bytesMax))
        while let clearing = try firstClearing() {
            guard !left.isNothing, try old.removeRows(at: clearing.place, &left) else { return true }
            try finish(clearing)
            left.rows -= Self.rowsOfAZone
        }
        return false
    }

    /// What the end of a clearing counts as: the zone's own rows in a dozen tables.
    private static let rowsOfAZone = 12

    /// How much a step may still remove.
    private struct ClearingLeft {
        var rows: Int
        var bytes: Int64
        var isNothing: Bool { rows <= 0 || bytes <= 0 }
    }

    private struct Clearing {
        let number: Int64
        let zone: ZoneKey
        let place: ZoneKey
    }

    private func firstClearing() throws -> Clearing? {
        let sql = "SELECT scope, owner, zone, number, place FROM clearings ORDER BY number LIMIT 1"
        return try connection.withStatement(sql) { statement in
            guard try statement.step() else { return nil }
            let zone = try zoneKey(from: statement, at: 0)
            let place = ZoneKey(database: zone.database, zoneName: statement.text(at: 4))
            return Clearing(number: statement.int64(at: 3), zone: zone, place: place)
        }
    }

    /// Removes records with all that belongs to them, in the order of their names; true when none is left.
    private func removeRows(at place: ZoneKey, _ left: inout ClearingLeft) throws -> Bool {
        let sql = """
            SELECT name, type, \(Self.fieldsLength) FROM records WHERE scope = ?1 AND owner = ?2 AND zone = ?3
            ORDER BY name LIMIT ?4
            """
        let rowsMax = left.rows
        let found = try connection.withStatement(sql) { statement in
            try bind(place, to: statement)
            try statement.bind(Int64(rowsMax), at: 4)
            var found: [(key: RecordKey, recordType: String, bytes: Int64)] = []
            while try statement.step() {
                let key = RecordKey(zone: place, recordName: statement.text(at: 0))
                found.append((key, statement.text(at: 1), statement.int64(at: 2)))
            }
            return found
        }
        for record in found {
            guard !left.isNothing else { return false }
            let dropped = try dropEntries(of: record.key, recordType: record.recordType, max: left.rows)
            left.rows -= dropped.count
            // A record may have thousands: the others go in the next step.
            guard dropped.isDone else { return false }
            left.rows -= 1
            left.bytes -= record.bytes
            left.rows -= try removeReferences(from: record.key)
            left.rows -= try remove(record.key)
        }
        return found.count < rowsMax
    }

    private func finish(_ clearing: Clearing) throws {
        try removeRest(at: clearing.place)
        try connection.withStatement("DELETE FROM clearings WHERE number = ?1") { statement in
            try statement.bind(clearing.number, at: 1)
            try statement.run()
        }
        let others = "SELECT 1 FROM clearings WHERE scope = ?1 AND owner = ?2 AND zone = ?3 LIMIT 1"
        let isLast = try connection.withStatement(others) { statement in
            try bind(clearing.zone, to: statement)
            return try !statement.step()
        }
        // Nothing stands under the zone's own name any more: an empty zone begins there again.
        let place = ZoneKey(database: clearing.zone.database, zoneName: try place(of: clearing.zone))
        guard isLast, place != clearing.zone, try !hasRows(at: place) else { return }
        try removeRest(at: place)
        let sql = "DELETE FROM zonePlaces WHERE scope = ?1 AND owner = ?2 AND zone = ?3"
        try connection.withStatement(sql) { statement in
            try bind(clearing.zone, to: statement)
            try statement.run()
        }
        places = ZonePlaces()
        indexParts = [:]
    }

    private static let zoneTables = ["records", "recordReferences", "recordAssets"]

    private func hasRows(at place: ZoneKey) throws -> Bool {
        try Self.zoneTables.contains { table in
            let sql = "SELECT 1 FROM \(table) WHERE scope = ?1 AND owner = ?2 AND zone = ?3 LIMIT 1"
            return try connection.withStatement(sql) { statement in
                try bind(place, to: statement)
                return try statement.step()
            }
        }
    }

    /// What no record has named: in a sound file nothing but the numbers of types.
    private func removeRest(at place: ZoneKey) throws {
        try removeIndexParts(at: place)
        try removeLargeFields(at: place)
        for table in Self.zoneTables {
            let sql = "DELETE FROM \(table) WHERE scope = ?1 AND owner = ?2 AND zone = ?3"
            try connection.withStatement(sql) { statement in
                try bind(place, to: statement)
                try statement.run()
            }
        }
    }
}
