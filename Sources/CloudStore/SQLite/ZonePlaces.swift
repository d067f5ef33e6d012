import SQLite

/// The names under which the rows of zones are stored. Owns `zonePlaces` and `clearings`.
///
/// The rows of a zone have its own name, unless it was cleared while it had rows. From then on new rows have another
/// name, so that no reader sees the old rows, which are removed later.
final class ZonePlaces {
    /// Rows that the transaction has read.
    struct Known {
        /// False if the rows of all zones have the zones' own names. Nil until it was read.
        var areUsed: Bool?
        var places: [ZoneKey: String] = [:]
    }

    /// The rows of a cleared zone, to be removed.
    struct Clearing {
        let number: Int64
        let zone: ZoneKey
        let place: ZoneKey
    }

    /// First character of other names. Names of zones are printable, so none has it.
    private static let separator: Character = "\u{1}"

    /// Condition for rows `r` of a zone that wasn't cleared.
    static let isNotCleared = """
        NOT EXISTS (SELECT 1 FROM clearings AS c WHERE c.scope = r.scope AND c.owner = r.owner AND c.place = r.zone)
        """

    private let connection: Connection
    var known: Known

    init(_ connection: Connection, known: Known = Known()) {
        self.connection = connection
        self.known = known
    }

    /// Makes places that are the zones' own names.
    static func themselves(_ connection: Connection) -> ZonePlaces {
        ZonePlaces(connection, known: Known(areUsed: false))
    }

    /// Discards what was read, after other code has changed the tables.
    func forget() { known = Known() }

    /// Returns the name under which the rows of a zone are stored.
    func name(of zone: ZoneKey) throws -> String {
        if known.areUsed == nil {
            known.areUsed = try connection.withStatement("SELECT 1 FROM zonePlaces LIMIT 1") {
                try $0.step()
            }
        }
        guard known.areUsed == true else { return zone.zoneName }
        if let place = known.places[zone] { return place }
        let sql = "SELECT place FROM zonePlaces WHERE scope = ?1 AND owner = ?2 AND zone = ?3"
        let place = try connection.withStatement(sql) { statement in
            try statement.bind(zone)
            return try statement.step() ? statement.text(at: 0) : zone.zoneName
        }
        known.places[zone] = place
        return place
    }

    /// Returns the place of a zone's rows.
    func place(of zone: ZoneKey) throws -> ZoneKey {
        ZoneKey(database: zone.database, zoneName: try name(of: zone))
    }

    /// Binds the first three columns of a row of a zone.
    func bind(_ zone: ZoneKey, to statement: borrowing Statement) throws {
        try statement.bind(zone.database)
        try statement.bind(try name(of: zone), at: 3)
    }

    /// Binds the first three columns of a record's row, and its name.
    func bind(_ key: RecordKey, to statement: borrowing Statement) throws {
        try bind(key.zone, to: statement)
        try statement.bind(key.recordName, at: 4)
    }

    /// Returns the zone with rows at `place`, or nil if they belong to a cleared zone.
    func zone(at place: ZoneKey) throws -> ZoneKey? {
        let own = place.zoneName.prefix { $0 != Self.separator }
        let zone = ZoneKey(database: place.database, zoneName: String(own))
        return try name(of: zone) == place.zoneName ? zone : nil
    }

    // MARK: - Clearing

    /// Gives a zone another place. The rows at its old place are removed later. Their usage is read from the zone's
    /// row, which must be unchanged.
    func clear(_ zone: ZoneKey) throws {
        let old = try name(of: zone)
        let clearing = """
            INSERT INTO clearings (scope, owner, zone, place, records, bytes)
            SELECT ?1, ?2, ?3, ?4, \(ZoneTables.countedSize) RETURNING number
            """
        let number = try connection.withStatement(clearing) { statement in
            try statement.bind(zone)
            try statement.bind(old, at: 4)
            return try statement.firstInt64()
        }
        let place = "\(zone.zoneName)\(Self.separator)\(number)"
        let sql = "INSERT OR REPLACE INTO zonePlaces (scope, owner, zone, place) VALUES (?1, ?2, ?3, ?4)"
        try connection.run(sql) { statement in
            try statement.bind(zone)
            try statement.bind(place, at: 4)
        }
        known.areUsed = true
        known.places[zone] = place
    }

    /// Returns the size of a user's cleared zones that still have rows, and their number.
    ///
    /// - Parameter zonesMax: Maximum number of zones that are counted.
    func clearedSize(of key: UsageKey, zonesMax: Int) throws -> StoredSize {
        let sql = """
            SELECT coalesce(sum(records), 0), count(*), coalesce(sum(bytes), 0) FROM (
                SELECT records, bytes FROM clearings WHERE scope = ?1 AND owner = ?2 LIMIT ?3)
            """
        return try connection.withStatement(sql) { statement in
            try statement.bind(key.scope.rawValue, key.user, zonesMax, at: 1)
            guard try statement.step() else { return StoredSize() }
            return StoredSize(
                records: statement.int64(at: 0), recordBytes: statement.int64(at: 2),
                zones: statement.int64(at: 1))
        }
    }

    func firstClearing() throws -> Clearing? {
        let sql = "SELECT scope, owner, zone, number, place FROM clearings ORDER BY number LIMIT 1"
        return try connection.withStatement(sql) { statement in
            guard try statement.step() else { return nil }
            let zone = try connection.zoneKey(from: statement, at: 0)
            let place = ZoneKey(database: zone.database, zoneName: statement.text(at: 4))
            return Clearing(number: statement.int64(at: 3), zone: zone, place: place)
        }
    }

    /// Ends a clearing with no rows left.
    ///
    /// - Returns: True if it was the zone's last.
    func end(_ clearing: Clearing) throws -> Bool {
        try connection.run("DELETE FROM clearings WHERE number = ?1") { try $0.bind(clearing.number, at: 1) }
        let others = "SELECT 1 FROM clearings WHERE scope = ?1 AND owner = ?2 AND zone = ?3 LIMIT 1"
        return try connection.withStatement(others) { statement in
            try statement.bind(clearing.zone)
            return try !statement.step()
        }
    }

    /// Lets a zone without rows use its own name again.
    func reset(_ zone: ZoneKey) throws {
        let sql = "DELETE FROM zonePlaces WHERE scope = ?1 AND owner = ?2 AND zone = ?3"
        try connection.run(sql) { try $0.bind(zone) }
        forget()
    }
}

/// The owners of the tables with rows at a zone's place.
extension Connection {
    func hasRows(in table: String, at place: ZoneKey) throws -> Bool {
        let sql = "SELECT 1 FROM \(table) WHERE scope = ?1 AND owner = ?2 AND zone = ?3 LIMIT 1"
        return try withStatement(sql) { statement in
            try statement.bind(place)
            return try statement.step()
        }
    }

    func removeRows(of table: String, at place: ZoneKey) throws {
        try run("DELETE FROM \(table) WHERE scope = ?1 AND owner = ?2 AND zone = ?3") { try $0.bind(place) }
    }
}
