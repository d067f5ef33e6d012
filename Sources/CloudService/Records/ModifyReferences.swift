import CloudStore
import CloudWire

/// Applies the rules of references to a batch: a save fails if its target is missing, a delete fails if others forbid
/// it, and records that refer by DELETE_SELF are deleted too. Pure.
///
/// The rules apply to the state after the whole batch, so the order of operations doesn't matter. A failure can cause
/// others, so it repeats until nothing fails, each time only for what the last failures may have changed: the cost of
/// a chain of failures is proportional to its length.
struct ModifyReferences {
    let loaded: StoreLoaded
    let limits: ServiceLimits
    let keys: [RecordKey?]
    private(set) var outcomes: [ModifyOutcome]
    /// Records that go because of the delete at an index, in the order in which they were found.
    private(set) var cascades: [Int: [StoredRecord]] = [:]
    let indexOfKey: [RecordKey: Int]
    /// The operations that save a record, or were to.
    let savesIndex: Set<Int>
    /// The records of all cascades.
    private(set) var gone = Set<RecordKey>()
    /// By target what the batch's saves refer to, as far as that can fail.
    let referrers: [RecordKey: [Referrer]]
    let countLimit: ReferenceCountLimit
    /// The saves that give a record another parent than it had.
    let newParents: [Int]
    /// Records that refer to what is deleted.
    private let sources: Set<RecordKey>
    /// The operations that have failed and were not looked at; nil: nothing was looked at.
    private var failed: [Int]?

    /// A reference of a record that the batch saves.
    struct Referrer {
        let index: Int
        let reference: ReferenceRow
        /// True if the record had it before.
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

    /// Fails what must fail.
    mutating func settle() {
        while true {
            let goneBefore = gone
            let moves = deletesMayChange
            if moves { findCascades() }
            var failures = failedReferrers(newlyGone: gone.subtracting(goneBefore))
            if moves { failures += heldDeletes() }
            failures += countFailures()
            // Last: a save that fails for another reason closes no circle.
            if failures.isEmpty { failures = parentFailures() }
            failed = failures.map(\.0)
            if failures.isEmpty { return }
            for (index, error) in failures { outcomes[index] = .failed(error) }
        }
    }

    /// Fails an operation for another reason; `settle` again.
    mutating func fail(_ index: Int, _ error: WireError) {
        outcomes[index] = .failed(error)
        failed?.append(index)
    }

    /// True if the last failures can have changed what a delete takes along, or what forbids it: a record that was to
    /// be deleted stays, or one that refers to what is deleted stays as it was.
    private var deletesMayChange: Bool {
        guard let failed else { return true }
        return failed.contains { !savesIndex.contains($0) || keys[$0].map(sources.contains) ?? false }
    }

    /// The saves that refer to what the last failures have taken away.
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
            // All of them fail: what lies behind the limit was not loaded, so no cascade is known whole.
            guard going.count == 1 || !isTooMuch else {
                failures.append(
                    (index, ServiceError.limitExceeded("the delete takes too many records along")))
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
                    // A record that the batch saves or deletes itself is not taken along.
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

    /// The records that refer to `target` after the batch, without the deleted ones.
    private func dependants(of target: RecordKey) -> [ReferenceRow] {
        (loaded.dependants[target] ?? []).filter { !isWritten($0.source) }
            + (referrers[target] ?? []).filter { isDone($0.index) }.map(\.reference)
    }

    private func isWritten(_ key: RecordKey) -> Bool { indexOfKey[key].map(isDone) ?? false }

    /// Returns true if an operation saves or deletes a record, and has not failed.
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
