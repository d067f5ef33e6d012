import SQLite

/// Under which names the rows of zones stand: `zonePlaces` and `clearings`.
///
/// Those of a zone stand under its own name, unless it was cleared while it had rows: from then on they stand under
/// another one, so that nobody meets the old rows, which go later.
final class ZonePlaces {
    /// What a transaction has asked for.
    struct Known {
        /// False when every zone's rows stand under its own name; nil: nobody has asked.
        var areUsed: Bool?
        var places: [ZoneKey: String] = [:]
    }

    /// Rows of a zone that wait to go.
    struct Clearing {
        let number: Int64
        let zone: ZoneKey
        let place: ZoneKey
    }

    /// No zone's name has it: names are printable.
    private static let separator: Character = "\u{1}"

    /// Holds for rows `r` of a zone that wasn't cleared.
    static let isNotCleared = """
        NOT EXISTS (SELECT 1 FROM clearings AS c WHERE c.scope = r.scope AND c.owner = r.owner AND c.place = r.zone)
        """

    private let connection: Connection
    var known: Known

    init(_ connection: Connection, known: Known = Known()) {
        self.connection = connection
        self.known = known
    }

    /// Takes each name for the place itself.
    static func themselves(_ connection: Connection) -> ZonePlaces {
        ZonePlaces(connection, known: Known(areUsed: false))
    }

    /// Forgets what it knows, after others have changed the tables.
    func forget() { known = Known() }

    /// The name under which the rows of a zone stand.
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

    /// Where the rows of a zone stand.
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

    /// The zone whose rows stand at `place`; nil when they are only waiting to go.
    func zone(at place: ZoneKey) throws -> ZoneKey? {
        let own = place.zoneName.prefix { $0 != Self.separator }
        let zone = ZoneKey(database: place.database, zoneName: String(own))
        return try name(of: zone) == place.zoneName ? zone : nil
    }

    // MARK: - Clearing

    /// Gives a zone another place. The rows at the one that it had wait to go. What they come to is taken from the
    /// zone's row, which has to be as it was.
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

    /// What the zones of a user that were cleared came to, of which rows are left, and how many they are.
    ///
    /// - Parameter zonesMax: so many are counted at most.
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

    /// Ends a clearing, of which no row is left.
    ///
    /// - Returns: Whether it was the zone's last.
    func end(_ clearing: Clearing) throws -> Bool {
        try connection.run("DELETE FROM clearings WHERE number = ?1") { try $0.bind(clearing.number, at: 1) }
        let others = "SELECT 1 FROM clearings WHERE scope = ?1 AND owner = ?2 AND zone = ?3 LIMIT 1"
        return try connection.withStatement(others) { statement in
            try statement.bind(clearing.zone)
            return try !statement.step()
        }
    }

    /// Lets a zone without rows begin under its own name again.
    func reset(_ zone: ZoneKey) throws {
        let sql = "DELETE FROM zonePlaces WHERE scope = ?1 AND owner = ?2 AND zone = ?3"
        try connection.run(sql) { try $0.bind(zone) }
        forget()
    }
}

/// The owners of tables whose rows stand at a zone's place.
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
