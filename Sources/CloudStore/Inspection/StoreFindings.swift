import SQLite

/// An inconsistency in a store's file.
package struct StoreFinding: Hashable, Sendable {
    /// What was checked.
    package let check: String
    /// The problem.
    package let what: String
}

extension StoreFile {
    /// Returns the problems in the file, or an empty array if it is sound. Reads the whole file.
    ///
    /// - Throws: `CloudStoreError` if the file can't be read at all.
    package func findings() throws -> [StoreFinding] {
        try inspect { connection in
            let damages = try connection.integrityCheck()
            // A damaged file isn't checked further.
            guard damages.isEmpty else {
                return damages.map { StoreFinding(check: "integrity", what: $0) }
            }
            return try (Self.questions + Self.indexQuestions).compactMap { question in
                let count = try connection.withStatement(question.sql) { try $0.step() ? $0.int64(at: 0) : 0 }
                return count == 0
                    ? nil : StoreFinding(check: question.check, what: "\(count) \(question.what)")
            } + Self.indexFindings(connection) + Self.checksumFindings(connection)
        }
    }

    /// Calls `body` with the digest of each file in records, once for each digest.
    ///
    /// - Throws: `CloudStoreError`, what `body` throws.
    package func forEachAsset(_ body: (AssetUse) throws -> Void) throws {
        try inspect { connection in
            try connection.withStatement("SELECT digest, max(bytes) FROM recordAssets GROUP BY digest") {
                while try $0.step() {
                    try body(AssetUse(digest: $0.bytes(at: 0), bytes: $0.int64(at: 1)))
                }
            }
        }
    }

    /// Checks the zones and the places of their rows.
    static let placedZones = """
        (SELECT zones.*, coalesce(place, zones.zone) AS place
            FROM zones LEFT JOIN zonePlaces USING (scope, owner, zone))
        """

    private static let questions: [(check: String, what: String, sql: String)] = [
        (
            "references", "references of records that are not there",
            """
            SELECT count(*) FROM recordReferences AS r LEFT JOIN records AS s
            ON s.scope = r.scope AND s.owner = r.owner AND s.zone = r.zone AND s.name = r.source
            WHERE s.name IS NULL OR s.isDeleted = 1
            """
        ),
        (
            "references", "references that must lead to a record and lead nowhere",
            """
            SELECT count(*) FROM recordReferences AS r LEFT JOIN records AS t
            ON t.scope = r.scope AND t.owner = r.owner AND t.zone = r.zone AND t.name = r.target
            WHERE r.kind <> 1 AND (t.name IS NULL OR t.isDeleted = 1)
            AND \(ZonePlaces.isNotCleared)
            """
        ),
        (
            "zones", "records in custom zones that are not there",
            """
            SELECT count(*) FROM records AS r LEFT JOIN \(placedZones) AS z
            ON z.scope = r.scope AND z.owner = r.owner AND z.place = r.zone
            WHERE r.zone <> '_defaultZone' AND (z.zone IS NULL OR z.isDeleted = 1)
            AND \(ZonePlaces.isNotCleared)
            """
        ),
        (
            "zones", "records with a later change than their zone",
            """
            SELECT count(*) FROM records AS r JOIN \(placedZones) AS z
            ON z.scope = r.scope AND z.owner = r.owner AND z.place = r.zone WHERE r.counter > z.counter
            """
        ),
        (
            "files of records", "files of records that are not there",
            """
            SELECT count(*) FROM recordAssets AS a LEFT JOIN records AS r
            ON r.scope = a.scope AND r.owner = a.owner AND r.zone = a.zone AND r.name = a.name
            WHERE r.name IS NULL OR r.isDeleted = 1
            """
        ),
        (
            "fields", "records without their fields",
            """
            SELECT count(*) FROM records AS r LEFT JOIN largeFields AS l ON l.id = r.fieldsRow
            WHERE r.fieldsRow IS NOT NULL AND l.id IS NULL
            """
        ),
        (
            "fields", "records that share their fields with others",
            "SELECT count(fieldsRow) - count(DISTINCT fieldsRow) FROM records"
        ),
        (
            "fields", "fields of records that are not there",
            "SELECT count(*) FROM largeFields WHERE id NOT IN (SELECT fieldsRow FROM records WHERE fieldsRow NOT NULL)"
        ),
        (
            "usage", "users with a wrong count of their private records",
            """
            SELECT count(*) FROM (
                SELECT owner, sum(isDeleted = 0) AS records, sum(\(LargeFieldTable.fieldsLength)) AS bytes,
                sum(indexBytes) AS indexBytes
                FROM records AS r
                WHERE scope = 2 AND \(ZonePlaces.isNotCleared) GROUP BY owner
            ) AS r LEFT JOIN usage AS u ON u.scope = 2 AND u.user = r.owner
            WHERE u.records IS NOT r.records OR u.recordBytes IS NOT r.bytes OR u.indexBytes IS NOT r.indexBytes
            """
        ),
    ]
}
