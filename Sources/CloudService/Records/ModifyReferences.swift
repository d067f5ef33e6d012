import CloudStore
import CloudWire

/// Lets the operations of a batch answer for the references between records: a save whose target is missing
/// fails, a delete that others forbid fails, and what refers by DELETE_SELF goes along. Pure.
///
/// It looks at how things stand when the whole batch is done, so the order of the operations doesn't matter.
/// A failure can cause others, so it goes on until nothing fails any more.
struct ModifyReferences {
    let loaded: StoreLoaded
    let limits: ServiceLimits
    let keys: [RecordKey?]
    var outcomes: [ModifyOutcome]
    /// Records that go because of the delete at an index, in the order in which they were found.
    var cascades: [Int: [RecordRow]] = [:]
    let indexOfKey: [RecordKey: Int]
    /// The operations that save a record, or were to.
    let savesIndex: Set<Int>

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
    }

    /// Fails what must fail.
    mutating func settle() {
        while true {
            findCascades()
            let failures = self.failures()
            if failures.isEmpty { return }
            for (index, error) in failures { outcomes[index] = .failed(error) }
        }
    }

    /// Fails an operation for another reason; `settle` again.
    mutating func fail(_ index: Int, _ error: WireError) { outcomes[index] = .failed(error) }

    private func failures() -> [(Int, WireError)] {
        let added = savedReferences()
        let gone = Set(cascades.values.joined().map(\.key))
        let isTooMuch = gone.count > limits.cascadeRecordsMax
        var failures: [(Int, WireError)] = []
        for (index, outcome) in outcomes.enumerated() {
            guard let key = keys[index] else { continue }
            switch outcome {
            case .save(let draft):
                if let error = targetError(draft, gone: gone) { failures.append((index, error)) }
            case .delete:
                let going = [key] + (cascades[index] ?? []).map(\.key)
                // All of them fail: what lies behind the limit was not loaded, so no cascade is known whole.
                guard going.count == 1 || !isTooMuch else {
                    failures.append(
                        (index, ServiceError.limitExceeded("the delete takes too many records along")))
                    continue
                }
                let holder = going.lazy.flatMap { dependants(of: $0, added: added) }
                    .first { $0.kind != .deleteSelf && isThere($0.source, gone: gone) }
                if let holder {
                    let field = fieldName(of: holder)
                    failures.append((index, ServiceError.stillReferred(by: holder.sourceName, field: field)))
                }
            case .nothingToDelete, .failed:
                continue
            }
        }
        return failures + crowdFailures()
    }

    private mutating func findCascades() {
        let added = savedReferences()
        var visited = Set<RecordKey>()
        cascades = [:]
        for (index, outcome) in outcomes.enumerated() {
            guard case .delete = outcome, let key = keys[index] else { continue }
            var found: [RecordRow] = []
            var waiting = [key]
            while let target = waiting.popLast() {
                for reference in dependants(of: target, added: added) where reference.kind == .deleteSelf {
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
    }

    /// Who refers to `target` when the batch is done, but for those that go.
    private func dependants(of target: RecordKey, added: [RecordKey: [ReferenceRow]]) -> [ReferenceRow] {
        (loaded.dependants[target] ?? []).filter { !isWritten($0.source) } + (added[target] ?? [])
    }

    private func savedReferences() -> [RecordKey: [ReferenceRow]] {
        var added: [RecordKey: [ReferenceRow]] = [:]
        for outcome in outcomes {
            guard case .save(let draft) = outcome else { continue }
            for reference in draft.references { added[reference.target, default: []].append(reference) }
        }
        return added
    }

    private func isWritten(_ key: RecordKey) -> Bool {
        guard let index = indexOfKey[key] else { return false }
        switch outcomes[index] {
        case .save, .delete: return true
        case .nothingToDelete, .failed: return false
        }
    }

    func isThere(_ key: RecordKey, gone: Set<RecordKey>) -> Bool {
        if gone.contains(key) { return false }
        if let index = indexOfKey[key] {
            switch outcomes[index] {
            case .save: return true
            case .delete: return false
            case .nothingToDelete, .failed: break
            }
        }
        return loaded.records[key].map { !$0.isDeleted } ?? false
    }
}
