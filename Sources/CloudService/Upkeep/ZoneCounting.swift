import CloudStore
import System

/// Gives the zones of a file of an earlier version their checksums. How far it has come lives as long as the service:
/// after a restart the zone is gone through again, and what has a checksum is passed over.
final class ZoneCounting: Sendable {
    private struct State {
        /// False when every zone is counted, as far as this process knows.
        var mayWait = true
        /// The zone before the one that is counted.
        var zonesBefore: ZoneKey?
        /// The last record that was looked at.
        var recordsBefore: String?
    }

    /// Zones that one step looks at, to find one that isn't counted.
    private static let countedZonesMax = 500
    /// Records that one step counts.
    private static let countedRecordsMax = 500

    private let store: any CloudStore
    private let state = Lock(State())

    init(store: any CloudStore) { self.store = store }

    var mayWait: Bool { state.withLock { $0.mayWait } }

    /// One bounded step towards a checksum for each zone that an earlier version made; true when there may be more.
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

    /// Counts some records of a zone.
    ///
    /// - Returns: The last of them; nil when the zone is done.
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
