internal import CloudKit
internal import CloudWire
internal import Yap

/// The checksums of a zone on this device and on the server, at one token.
struct ZoneComparison {
    /// The server's checksum, sent with the last page.
    var server: ZoneChecksum
    /// The checksum of the fetched pages.
    var here: ZoneChecksum
    /// Verified rows that changed without the sync's knowledge.
    var changedRows: [String] = []

    /// Description of the difference, or nil if there is none.
    var difference: String? {
        if server != here {
            return server.identities == here.identities
                ? "the fields of records differ from the server's" : "its records are not those of the server"
        }
        return changedRows.isEmpty
            ? nil : "rows were changed behind the sync: \(changedRows.prefix(5).joined(separator: ", "))"
    }
}

/// The result of a comparison.
enum ZoneVerdict {
    case nothing
    /// The zone is being fetched again.
    case fetchesAnew(String)
    /// The zone was fetched again, and still differs.
    case stillDiffers(String)
}

/// A zone's checksum while one page is applied.
struct ZoneCount {
    /// The sum so far; nil after a record without its part.
    var sum: ZoneChecksum?
    /// Whether records without a row may have a part.
    var mayHaveKnown = false
}

extension ZoneFetch {
    /// Begins to count a page. A fetch without a token starts from zero. A zone that an earlier version fetched is not
    /// counted until such a fetch.
    func beginCount(_ page: SyncPage, _ database: DatabaseKey) throws -> ZoneCount {
        guard cloudKit.verifiesZones else { return ZoneCount() }
        guard try tables.tokens.token(page.zoneID, database) != nil else {
            try tables.checksums.forgetParts(page.zoneID, database)
            return ZoneCount(sum: ZoneChecksum())
        }
        return ZoneCount(
            sum: try tables.checksums.checksum(page.zoneID, database),
            mayHaveKnown: try tables.checksums.hasKnown(page.zoneID, database))
    }

    /// Adds a record of a page to the sum, after it was applied. Its part is in `partOfNew`.
    ///
    /// - Parameter isNew: Whether it was attached as a new record, with its part.
    func count(
        _ record: CKRecord, isNew: Bool, _ database: DatabaseKey, _ count: inout ZoneCount
    ) throws {
        guard count.sum != nil else { return }
        guard let part = partOfNew else {
            count.sum = nil
            return
        }
        count.sum? += part
        if isNew, !count.mayHaveKnown { return }
        let old =
            try isNew
            ? tables.checksums.removeKnown(record.recordID, database)
            : tables.checksums.replacePart(part, of: record.recordID, type: record.recordType, database)
        if let old { count.sum? -= old }
    }

    /// Subtracts a deleted record of a page from the sum, before the deletion is applied.
    func countDeletion(
        _ recordID: CKRecord.ID, _ database: DatabaseKey, _ count: inout ZoneCount
    ) throws {
        guard count.sum != nil,
            let old = try tables.checksums.replacePart(nil, of: recordID, type: "", database)
        else { return }
        count.sum? -= old
    }

    /// Stores the sum with the page's token.
    func endCount(_ count: ZoneCount, _ page: SyncPage, _ database: DatabaseKey) throws {
        try tables.checksums.setChecksum(count.sum, page.zoneID, database)
        guard !page.moreComing, let server = page.checksum, let here = count.sum else { return }
        comparison = ZoneComparison(server: server, here: here)
    }

    // MARK: Result

    /// Pause before the next full fetch of a zone that still differs, in milliseconds. It doubles each time.
    private static let pauseMilliseconds: Int64 = 60_000
    private static let pauseMillisecondsMax: Int64 = 86_400_000

    /// Begins a full fetch of a zone that differs. Records that it doesn't show were deleted, and pending changes are
    /// merged. A zone that still differs is fetched again after a pause, so that a permanent fault doesn't cause
    /// fetches without end.
    func settle(
        _ comparison: ZoneComparison, _ zoneID: CKRecordZone.ID, _ database: DatabaseKey, now: Int64
    ) throws -> ZoneVerdict {
        var found = try tables.checksums.differences(zoneID, database)
        guard let difference = comparison.difference else {
            guard found.attempts > 0 || found.differs else { return .nothing }
            try tables.checksums.setDifferences(.init(count: found.count), zoneID, database)
            return .nothing
        }
        let isFirst = found.attempts == 0
        // If the clock was set back, the wait isn't longer than the maximum pause.
        let mayRetry =
            now >= found.retryMilliseconds || found.retryMilliseconds - now > Self.pauseMillisecondsMax
        guard isFirst || mayRetry else {
            // Reported once. The status shows it from then on.
            guard !found.differs else { return .nothing }
            found.differs = true
            try tables.checksums.setDifferences(found, zoneID, database)
            return .stillDiffers(difference)
        }
        if isFirst { found.count += 1 }
        let doublings = min(found.attempts, 16)
        found.attempts += 1
        found.retryMilliseconds = now + min(Self.pauseMilliseconds << doublings, Self.pauseMillisecondsMax)
        found.differs = !isFirst
        try tables.checksums.setDifferences(found, zoneID, database)
        try beginFullFetch(zoneID, database, .expired)
        return .fetchesAnew(difference)
    }
}

extension CKRecord {
    /// The record's part of its zone's checksum; nil if it wasn't fetched with the zone's changes.
    var checksum: ZoneChecksum? {
        guard let content = fetchedContent, let recordChangeTag else { return nil }
        return ZoneChecksum(
            recordName: recordID.recordName, recordType: recordType, changeTag: recordChangeTag,
            content: content)
    }
}
