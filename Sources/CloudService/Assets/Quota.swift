import CloudStore
import CloudWire
import System

/// How much may be in the database that a write goes to: a user's own, or the public one.
struct Quota: Sendable {
    let bytesMax: Int64
    let bytesUsed: Int64
    /// What a record counts beside its fields and files.
    var rowBytes: Int64 = 0
    /// What zones that were deleted still take on the disk.
    var bytesCleared: Int64 = 0
    /// True if the user has the maximum of such zones.
    var isClearingFull = false
    /// Records that may still be made.
    var recordsLeft = Int64.max
    /// The share of the public database that one user has.
    var share: Share?

    struct Share: Sendable {
        let user: String
        let bytesMax: Int64
        let bytesUsed: Int64
    }

    /// Returns true if the quota may not do for all of what is saved and for as many bytes of indexes more.
    func isNear(_ outcomes: [ModifyOutcome], indexBytes: Int64) -> Bool {
        let grown = outcomes.reduce(indexBytes) { $0 + max(0, $1.grownBytes(rowBytes)) }
        return bytesMax - bytesUsed < grown || share.map { $0.bytesMax - $0.bytesUsed < grown } ?? false
            || mustWait(grown)
    }

    /// Returns true if what is saved has to wait until more of the deleted zones is gone from the disk: with them a
    /// user has twice the quota there at most.
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

    /// The operations that are refused because they grow what is there beyond the quota, of those that are not refused
    /// yet. What gets smaller, and what goes, is never refused, and makes room for the others. Pure.
    ///
    /// - Parameter indexBytes: by how much each operation changes what names, index entries, and the rows of references
    ///   and files count as.
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

    /// - Parameter counts: whether the records of a creator count; nil stands for records that are made now.
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

    /// By how much a save changes what is there, without names, index entries and the rows of references and files.
    fileprivate func grownBytes(_ rowBytes: Int64) -> Int64 {
        guard case .save(let draft) = self else { return 0 }
        return Int64(draft.fieldBytes.count - (draft.old?.fields.count ?? 0))
            + draft.assets.bytes - draft.oldAssets.bytes + (draft.old == nil ? rowBytes : 0)
    }

    /// What a deletion frees, without what goes along with it. In a zone with a feed a tombstone takes the record's
    /// place, and keeps its names.
    fileprivate func freedBytes(_ rowBytes: Int64) -> Int64 {
        guard case .delete(let row) = self else { return 0 }
        return Int64(row.fields.count) + row.indexBytes
            + ((try? FieldsBinary.decode(row.fields))?.assetUses.bytes ?? 0)
            + (row.key.zone.isDefault ? rowBytes : -row.key.countedNameBytes(recordType: row.recordType))
    }
}

extension StoredSize {
    /// What counts against a quota.
    package func quotaBytes(rowBytes: Int64) -> Int64 {
        let (rows, overflows) = (records + tombstones + zones).multipliedReportingOverflow(by: rowBytes)
        return overflows ? .max / 2 : bytes + rows
    }
}
