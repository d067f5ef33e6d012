import CloudStore
import CloudWire
import System

/// The quota of a database that is written to: a user's private one, or the public one.
struct Quota: Sendable {
    let bytesMax: Int64
    let bytesUsed: Int64
    /// Bytes counted for a record beside its fields and files.
    var rowBytes: Int64 = 0
    /// Bytes that deleted zones still use on disk.
    var bytesCleared: Int64 = 0
    /// True if the user has the maximum of such zones.
    var isClearingFull = false
    /// Records that may still be created.
    var recordsLeft = Int64.max
    /// One user's share of the public database.
    var share: Share?

    struct Share: Sendable {
        let user: String
        let bytesMax: Int64
        let bytesUsed: Int64
    }

    /// Returns true if the saves and `indexBytes` more bytes of indexes might exceed the quota.
    func isNear(_ outcomes: [ModifyOutcome], indexBytes: Int64) -> Bool {
        let grown = outcomes.reduce(indexBytes) { $0 + max(0, $1.grownBytes(rowBytes)) }
        return bytesMax - bytesUsed < grown || share.map { $0.bytesMax - $0.bytesUsed < grown } ?? false
            || mustWait(grown)
    }

    /// Returns true if the saves must wait until more rows of deleted zones are removed. Including these, a
    /// user may have up to twice the quota on disk.
    func mustWait(_ outcomes: [ModifyOutcome], indexBytes: [Int64]) -> Bool {
        mustWait(
            zip(outcomes, indexBytes).reduce(Int64(0)) { grown, one in
                guard case .save = one.0 else { return grown }
                return grown + max(0, one.0.grownBytes(rowBytes) + one.1)
            })
    }

    private func mustWait(_ grown: Int64) -> Bool {
        guard grown > 0 else { return false }
        let (twice, overflows) = bytesMax.multipliedReportingOverflow(by: 2)
        return isClearingFull || bytesCleared > 0 && !overflows && bytesUsed + bytesCleared + grown > twice
    }

    /// Returns the operations that must be rejected because they would exceed the quota, among those not rejected
    /// yet. Operations that free space are never rejected, and make room for the others. Pure.
    ///
    /// - Parameter indexBytes: the change of each operation in the accounted size of names, index entries,
    ///   references and files.
    func refused(_ outcomes: [ModifyOutcome], indexBytes: [Int64]) -> [Int] {
        let grown = zip(outcomes, indexBytes).map { outcome, indexBytes -> Int64 in
            guard case .save = outcome else { return 0 }
            return outcome.grownBytes(rowBytes) + indexBytes
        }
        var refused = refused(outcomes, grown, bytesMax: bytesMax, bytesUsed: bytesUsed) { _ in true }
        if let share {
            refused += self.refused(outcomes, grown, bytesMax: share.bytesMax, bytesUsed: share.bytesUsed) {
                $0 == nil || $0 == share.user
            }
        }
        var recordsLeft = recordsLeft
        for (index, outcome) in outcomes.enumerated() {
            guard case .save(let draft) = outcome, draft.old == nil else { continue }
            recordsLeft -= 1
            if recordsLeft < 0 { refused.append(index) }
        }
        return Set(refused).sorted()
    }

    /// - Parameter counts: whether the records of a creator count. Nil stands for new records.
    private func refused(
        _ outcomes: [ModifyOutcome], _ grown: [Int64], bytesMax: Int64, bytesUsed: Int64,
        _ counts: (String?) -> Bool
    ) -> [Int] {
        let grown = zip(outcomes, grown).map { counts($0.creator) ? $1 : 0 }
        guard bytesUsed + grown.reduce(0, { $0 + max(0, $1) }) > bytesMax else { return [] }
        let freed = outcomes.reduce(0) { $0 + (counts($1.creator) ? $1.freedBytes(rowBytes) : 0) }
        var used = bytesUsed - freed + grown.reduce(0) { $0 + min(0, $1) }
        return grown.enumerated().filter { _, bytes in
            guard bytes > 0 else { return false }
            guard used + bytes <= bytesMax else { return true }
            used += bytes
            return false
        }.map(\.offset)
    }
}

extension ModifyOutcome {
    /// The creator of the record, or nil for a new record.
    fileprivate var creator: String? {
        switch self {
        case .save(let draft): draft.old?.created.userRecordName
        case .delete(let row): row.created.userRecordName
        default: nil
        }
    }

    /// Returns the growth by a save, without names, index entries, references and files.
    fileprivate func grownBytes(_ rowBytes: Int64) -> Int64 {
        guard case .save(let draft) = self else { return 0 }
        return Int64(draft.fieldBytes.count - (draft.old?.fields.count ?? 0))
            + draft.assets.bytes - draft.oldAssets.bytes + (draft.old == nil ? rowBytes : 0)
    }

    /// Returns the bytes that a deletion frees, without its cascade. In a zone with a feed a tombstone replaces the
    /// record, and keeps its names.
    fileprivate func freedBytes(_ rowBytes: Int64) -> Int64 {
        guard case .delete(let row) = self else { return 0 }
        return Int64(row.fields.count) + row.indexBytes
            + ((try? FieldsBinary.decode(row.fields))?.assetUses.bytes ?? 0)
            + (row.key.zone.isDefault ? rowBytes : -row.key.countedNameBytes(recordType: row.recordType))
    }
}

extension StoredSize {
    /// Returns the bytes counted against a quota.
    package func quotaBytes(rowBytes: Int64) -> Int64 {
        let (rows, overflows) = (records + tombstones + zones).multipliedReportingOverflow(by: rowBytes)
        return overflows ? .max / 2 : bytes + rows
    }
}
