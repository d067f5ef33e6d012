import SQLite

/// Deletes the rows of zones: hides them at once, and removes them from the disk in steps.
struct ClearedZones {
    private let places: ZonePlaces
    // Only the places of cleared zones have names.
    private let records: RecordTable
    private let references: ReferenceTable
    private let assets: RecordAssetTable
    private let indexes: IndexTables

    init(_ connection: Connection, _ places: ZonePlaces) {
        let themselves = ZonePlaces.themselves(connection)
        self.places = places
        records = RecordTable(connection: connection, places: themselves)
        references = ReferenceTable(connection: connection, places: themselves)
        assets = RecordAssetTable(connection: connection, places: themselves)
        indexes = IndexTables(connection, themselves)
    }

    /// Hides the rows of a zone from all readers. The zone's row must be unchanged.
    func clear(_ zone: ZoneKey) throws {
        let place = try places.place(of: zone)
        guard try hasRows(at: place) else { return try indexes.removeAll(at: place) }
        try places.clear(zone)
    }

    /// Removes one step of the rows. See `CloudStoreWriter`.
    func removeRows(rowsMax: Int, bytesMax: Int) throws -> Bool {
        var left = Left(rows: rowsMax, bytes: Int64(bytesMax))
        while let clearing = try places.firstClearing() {
            guard !left.isNothing, try removeRows(at: clearing.place, &left) else { return true }
            try finish(clearing)
            left.rows -= Self.rowsOfAZone
        }
        return false
    }

    /// Rows that the end of a clearing counts as: the zone's own rows in a dozen tables.
    private static let rowsOfAZone = 12

    /// Rows and bytes that a step may still remove.
    private struct Left {
        var rows: Int
        var bytes: Int64
        var isNothing: Bool { rows <= 0 || bytes <= 0 }
    }

    /// Removes records and everything that belongs to them, sorted by name.
    ///
    /// - Returns: True if none is left.
    private func removeRows(at place: ZoneKey, _ left: inout Left) throws -> Bool {
        let rowsMax = left.rows
        let found = try records.first(rowsMax, at: place)
        for record in found {
            guard !left.isNothing else { return false }
            let dropped = try indexes.dropEntries(
                of: record.key, recordType: record.recordType, max: left.rows)
            left.rows -= dropped.count
            // A record may have thousands of entries. The next step removes the rest.
            guard dropped.isDone else { return false }
            left.rows -= 1
            left.bytes -= record.bytes
            left.rows -= try references.removeAll(from: record.key)
            left.rows -= try assets.removeAll(of: record.key)
            try records.remove(record.key)
        }
        return found.count < rowsMax
    }

    private func finish(_ clearing: ZonePlaces.Clearing) throws {
        try removeRest(at: clearing.place)
        let isLast = try places.end(clearing)
        // No rows have the zone's own name any more, so an empty zone uses it again.
        let place = try places.place(of: clearing.zone)
        guard isLast, place != clearing.zone, try !hasRows(at: place) else { return }
        try removeRest(at: place)
        try places.reset(clearing.zone)
    }

    private func hasRows(at place: ZoneKey) throws -> Bool {
        try records.hasRows(at: place) || references.hasRows(at: place) || assets.hasRows(at: place)
    }

    /// Rows that belong to no record. In a sound file these are only the numbers of types.
    private func removeRest(at place: ZoneKey) throws {
        try indexes.removeAll(at: place)
        try records.removeAll(at: place)
        try references.removeAll(at: place)
        try assets.removeAll(at: place)
    }
}
