import CloudStore
import System

/// Adds checksums to the zones of a file of an earlier version. The progress is kept in memory: after a
/// restart the zone is processed again, and records with a checksum are skipped.
final class ZoneCounting: Sendable {
    private struct State {
        /// False once every zone is known to have a checksum.
        var mayWait = true
        /// The zone before the one that is being processed.
        var zonesBefore: ZoneKey?
        /// The last processed record.
        var recordsBefore: String?
    }

    /// Maximum zones that one step checks to find one without a checksum.
    private static let countedZonesMax = 500
    /// Maximum records that one step processes.
    private static let countedRecordsMax = 500

    private let store: any CloudStore
    private let state = Lock(State())

    init(store: any CloudStore) { self.store = store }

    var mayWait: Bool { state.withLock { $0.mayWait } }

    /// Does one bounded step of adding checksums to the zones of an earlier version. Returns true if there
    /// may be more.
    func countStep() throws -> Bool {
        let known = state.withLock { $0 }
        guard known.mayWait else { return false }
        let page = try store.read { reader in
            try reader.zones(after: known.zonesBefore, zonesMax: Self.countedZonesMax)
        }
        var next = known
        if let index = page.rows.firstIndex(where: { !$0.isDeleted && !$0.isCounted }) {
            if index > 0 {
                next.zonesBefore = page.rows[index - 1].key
                next.recordsBefore = nil
            }
            let after = next.recordsBefore
            next.recordsBefore = try store.write { try self.count(page.rows[index].key, after: after, $0) }
        } else {
            next = State(mayWait: page.moreComing, zonesBefore: page.rows.last?.key)
        }
        let found = next
        state.withLock { $0 = found }
        return found.mayWait
    }

    /// Adds some records of a zone to its checksum.
    ///
    /// - Returns: the last of them, or nil if the zone is complete.
    private func count(_ key: ZoneKey, after: String?, _ writer: any CloudStoreWriter) throws -> String? {
        var wanted = StoreLoad()
        wanted.zones = [key]
        guard var zone = try writer.load(wanted).zones[key], !zone.isDeleted, !zone.isCounted else {
            return nil
        }
        let page = try writer.records(
            in: key, after: after, recordsMax: Self.countedRecordsMax, bytesMax: UpkeepStep.recordBytesMax)
        var changes = StoreChanges()
        for var row in page.rows where row.checksum == nil {
            let checksum = row.countedChecksum
            row.checksum = checksum
            zone.checksum += checksum
            changes.records.append(row)
        }
        zone.isCounted = !page.moreComing
        changes.zones = [zone]
        try writer.apply(changes)
        return page.moreComing ? page.rows.last?.key.recordName : nil
    }
}
