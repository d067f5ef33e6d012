import CloudStore
import CloudWire

/// Applies the rules of references to a batch: a save fails if its target is missing, a deletion fails if a
/// reference prevents it, and records with a DELETE_SELF reference are deleted too. Pure.
///
/// The rules apply to the state after the whole batch, so the order of operations doesn't matter. A failure
/// can cause others, so it repeats until nothing fails. Each round checks only operations that the last
/// failures may affect, so the cost of a chain of failures is proportional to its length.
struct ModifyReferences {
    let loaded: StoreLoaded
    let limits: ServiceLimits
    let keys: [RecordKey?]
    private(set) var outcomes: [ModifyOutcome]
    /// Records that are deleted by the cascade of a deletion, by its index, in the order in which they were
    /// found.
    private(set) var cascades: [Int: [StoredRecord]] = [:]
    let indexOfKey: [RecordKey: Int]
    /// The operations that save a record, including failed ones.
    let savesIndex: Set<Int>
    /// The records of all cascades.
    private(set) var gone = Set<RecordKey>()
    /// The references of the batch's saves that can fail, by target.
    let referrers: [RecordKey: [Referrer]]
    let countLimit: ReferenceCountLimit
    /// The saves that change a record's parent.
    let newParents: [Int]
    /// Records that refer to deleted ones.
    private let sources: Set<RecordKey>
    /// The failed operations whose effects weren't processed yet, or nil before the first round.
    private var failed: [Int]?

    /// A reference of a record that the batch saves.
    struct Referrer {
        let index: Int
        let reference: ReferenceRow
        /// True if the stored record has the reference already.
        let isOld: Bool
    }

    init(
        outcomes: [ModifyOutcome], keys: [RecordKey?], saves: Set<Int>, loaded: StoreLoaded,
        limits: ServiceLimits
    ) {
        savesIndex = saves
        self.outcomes = outcomes
        self.keys = keys
        self.loaded = loaded
        self.limits = limits
        var indexOfKey: [RecordKey: Int] = [:]
        for (index, key) in keys.enumerated() {
            if let key { indexOfKey[key] = index }
        }
        self.indexOfKey = indexOfKey
        var referrers: [RecordKey: [Referrer]] = [:]
        for (index, outcome) in outcomes.enumerated() {
            guard case .save(let draft) = outcome else { continue }
            let old = Set(draft.oldReferences)
            for reference in draft.references
            where reference.kind != .deleteSelf || indexOfKey[reference.target] != nil {
                referrers[reference.target, default: []].append(
                    Referrer(index: index, reference: reference, isOld: old.contains(reference)))
            }
        }
        self.referrers = referrers
        countLimit = ReferenceCountLimit(
            outcomes, counts: loaded.deleteSelfCounts, countMax: limits.deleteSelfReferencesMax)
        newParents = outcomes.indices.filter { index in
            if case .save(let draft) = outcomes[index] { draft.hasNewParent } else { false }
        }
        sources = Set(loaded.dependants.values.joined().lazy.map(\.source))
    }

    /// Fails operations until all rules are met.
    mutating func settle() {
        while true {
            let goneBefore = gone
            let moves = deletesMayChange
            if moves { findCascades() }
            var failures = failedReferrers(newlyGone: gone.subtracting(goneBefore))
            if moves { failures += heldDeletes() }
            failures += countFailures()
            // Last, since a save that fails for another reason doesn't form a cycle.
            if failures.isEmpty { failures = parentFailures() }
            failed = failures.map(\.0)
            if failures.isEmpty { return }
            for (index, error) in failures { outcomes[index] = .failed(error) }
        }
    }

    /// Fails an operation for another reason. Call `settle` afterwards.
    mutating func fail(_ index: Int, _ error: WireError) {
        outcomes[index] = .failed(error)
        failed?.append(index)
    }

    /// True if the last failures may affect the cascade of a deletion, or the references that prevent it: a
    /// record isn't deleted after all, or one that refers to a deleted record stays unchanged.
    private var deletesMayChange: Bool {
        guard let failed else { return true }
        return failed.contains { !savesIndex.contains($0) || keys[$0].map(sources.contains) ?? false }
    }

    /// Returns the saves that refer to records removed by the last failures.
    private func failedReferrers(newlyGone: Set<RecordKey>) -> [(Int, WireError)] {
        let suspects: [Referrer]
        if let failed {
            let changed = newlyGone.union(failed.compactMap { keys[$0] })
            suspects = changed.flatMap { referrers[$0] ?? [] }
        } else {
            suspects = Array(referrers.values.joined())
        }
        // The error names the first reference that fails.
        var first: [Int: ReferenceRow] = [:]
        for suspect in suspects where fails(suspect) {
            first[suspect.index] = min(first[suspect.index] ?? suspect.reference, suspect.reference)
        }
        return first.sorted { $0.key < $1.key }.map { ($0, targetError($1, at: $0)) }
    }

    private func heldDeletes() -> [(Int, WireError)] {
        let isTooMuch = gone.count > limits.cascadeRecordsMax
        var failures: [(Int, WireError)] = []
        for (index, outcome) in outcomes.enumerated() {
            guard case .delete = outcome, let key = keys[index] else { continue }
            let going = [key] + (cascades[index] ?? []).map(\.key)
            // All cascades fail: references beyond the limit weren't loaded, so no cascade is complete.
            guard going.count == 1 || !isTooMuch else {
                failures.append(
                    (index, ServiceError.limitExceeded("the deletion cascades to too many records")))
                continue
            }
            let holder = going.lazy.flatMap { dependants(of: $0) }
                .first { $0.kind != .deleteSelf && isThere($0.source) }
            if let holder {
                let field = fieldName(of: holder)
                failures.append((index, ServiceError.stillReferred(by: holder.sourceName, field: field)))
            }
        }
        return failures
    }

    private mutating func findCascades() {
        var visited = Set<RecordKey>()
        cascades = [:]
        for (index, outcome) in outcomes.enumerated() {
            guard case .delete = outcome, let key = keys[index] else { continue }
            var found: [StoredRecord] = []
            var waiting = [key]
            while let target = waiting.popLast() {
                for reference in loaded.dependants[target] ?? [] where reference.kind == .deleteSelf {
                    // A record that the batch saves or deletes itself isn't part of a cascade.
                    guard !isWritten(reference.source), let row = loaded.records[reference.source],
                        !row.isDeleted,
                        visited.insert(row.key).inserted
                    else { continue }
                    found.append(row)
                    waiting.append(row.key)
                }
            }
            if !found.isEmpty { cascades[index] = found }
        }
        gone = visited
    }

    /// Returns the records that refer to `target` after the batch, without the deleted ones.
    private func dependants(of target: RecordKey) -> [ReferenceRow] {
        (loaded.dependants[target] ?? []).filter { !isWritten($0.source) }
            + (referrers[target] ?? []).filter { isDone($0.index) }.map(\.reference)
    }

    private func isWritten(_ key: RecordKey) -> Bool { indexOfKey[key].map(isDone) ?? false }

    /// Returns true if an operation saves or deletes a record, and hasn't failed.
    func isDone(_ index: Int) -> Bool {
        switch outcomes[index] {
        case .save, .delete: return true
        case .madeBefore, .nothingToDelete, .failed: return false
        }
    }

    func isThere(_ key: RecordKey) -> Bool {
        if gone.contains(key) { return false }
        if let index = indexOfKey[key] {
            switch outcomes[index] {
            case .save: return true
            case .delete: return false
            case .madeBefore, .nothingToDelete, .failed: break
            }
        }
        return loaded.records[key].map { !$0.isDeleted } ?? false
    }
}
