internal import CloudKit
internal import CloudWire
internal import Yap

/// What is here of a zone beside what the server has, at one token.
struct ZoneComparison {
    /// What the server told with the last page.
    var told: ZoneChecksum
    /// What the pages came to.
    var here: ZoneChecksum
    /// Rows, of those that were looked at, that are not what they were when they were last seen.
    var changedRows: [String] = []

    /// What differs, in words; nil when nothing does.
    var difference: String? {
        if told != here {
            return told.identities == here.identities
                ? "the fields of records differ from the server's" : "its records are not those of the server"
        }
        return changedRows.isEmpty
            ? nil : "rows were changed behind the sync: \(changedRows.prefix(5).joined(separator: ", "))"
    }
}

/// What follows from a comparison.
enum ZoneVerdict {
    case nothing
    /// The zone is being fetched anew.
    case fetchesAnew(String)
    /// It was, and differs still.
    case stillDiffers(String)
}

/// How a zone's checksum goes on through one page.
struct ZoneCount {
    /// The sum so far; nil when a record came without its part.
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

    /// Counts a record of a page, after it was applied, by `partOfNew`.
    ///
    /// - Parameter isNew: Whether it was attached as a new one, with its part.
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

    /// Counts a deletion of a page, before it is applied.
    func countDeletion(
        _ recordID: CKRecord.ID, _ database: DatabaseKey, _ count: inout ZoneCount
    ) throws {
        guard count.sum != nil,
            let old = try tables.checksums.replacePart(nil, of: recordID, type: "", database)
        else { return }
        count.sum? -= old
    }

    /// Keeps the sum with the page's token.
    func endCount(_ count: ZoneCount, _ page: SyncPage, _ database: DatabaseKey) throws {
        try tables.checksums.setChecksum(count.sum, page.zoneID, database)
        guard !page.moreComing, let told = page.checksum, let here = count.sum else { return }
        comparison = ZoneComparison(told: told, here: here)
    }

    // MARK: What follows

    /// The pause after a zone was fetched anew in vain, in milliseconds; it doubles each time.
    private static let pauseMilliseconds: Int64 = 60_000
    private static let pauseMillisecondsMax: Int64 = 86_400_000

    /// Fetches a zone anew that differs: what is absent then was deleted, and what waits in the queue is merged. One
    /// that differs all the same is tried again after a pause, so that a fault which stays doesn't fetch for ever.
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
        // A clock that was set back doesn't make it wait longer than the longest pause.
        let mayRetry =
            now >= found.retryMilliseconds || found.retryMilliseconds - now > Self.pauseMillisecondsMax
        guard isFirst || mayRetry else {
            // Told once, and then to be seen in the status.
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
    /// What the record adds to its zone's checksum; nil for one that wasn't fetched with the zone's changes.
    var checksum: ZoneChecksum? {
        guard let content = fetchedContent, let recordChangeTag else { return nil }
        return ZoneChecksum(
            recordName: recordID.recordName, recordType: recordType, changeTag: recordChangeTag,
            content: content)
    }
}
