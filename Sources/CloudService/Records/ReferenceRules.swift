import CloudStore
import CloudWire

/// What a save may refer to.
extension ModifyReferences {
    /// Why `draft` can't be saved as its targets are: one isn't there, or was to be saved beside it and failed.
    func targetError(_ draft: RecordDraft, gone: Set<RecordKey>) -> WireError? {
        let old = Set(draft.oldReferences)
        for reference in draft.references {
            let target = reference.target
            let isThere = isThere(target, gone: gone)
            if hasFailed(target), !old.contains(reference) || !isThere {
                let field = draft.fields.name(of: reference)
                return isThere
                    ? ServiceError.failedTarget(target.recordName, field: field)
                    : ServiceError.missingTarget(target.recordName, field: field)
            }
            // Apple lets a record hang on one that isn't there, as far as it does not demand it.
            if !isThere, reference.kind != .deleteSelf {
                return ServiceError.missingTarget(
                    target.recordName, field: draft.fields.name(of: reference))
            }
        }
        return nil
    }

    /// Whether the batch was to save the record, and does not.
    private func hasFailed(_ key: RecordKey) -> Bool {
        guard let index = indexOfKey[key], case .failed = outcomes[index] else { return false }
        return savesIndex.contains(index)
    }

    /// The saves with which more records would refer to one with DELETE_SELF than may. Those that come first in the
    /// request have the room.
    func crowdFailures() -> [(Int, WireError)] {
        var counts: [RecordKey: Int] = [:]
        for (target, count) in loaded.deleteSelfCounts { counts[target] = count - freed(target) }
        var failures: [(Int, WireError)] = []
        for (index, outcome) in outcomes.enumerated() {
            guard case .save(let draft) = outcome else { continue }
            for target in draft.newDeleteSelfTargets {
                let count = counts[target, default: 0] + 1
                guard count > limits.deleteSelfReferencesMax else {
                    counts[target] = count
                    continue
                }
                let reference = ReferenceRow(target: target, sourceName: "", kind: .deleteSelf)
                failures.append(
                    (
                        index,
                        ServiceError.tooManyReferences(
                            to: target.recordName, field: draft.fields.name(of: reference),
                            referencesMax: limits.deleteSelfReferencesMax)
                    ))
                break
            }
        }
        return failures
    }

    /// How many records no longer refer to `target` with DELETE_SELF after the batch.
    private func freed(_ target: RecordKey) -> Int {
        var count = 0
        func isFreed(_ references: [ReferenceRow]) -> Bool {
            references.contains { $0.target == target && $0.kind == .deleteSelf }
        }
        for outcome in outcomes {
            switch outcome {
            case .save(let draft):
                if isFreed(draft.oldReferences), !isFreed(draft.references) { count += 1 }
            case .delete(let row):
                let fields = (try? FieldsBinary.decode(row.fields)) ?? [:]
                if isFreed(bindingReferences(of: row.key, fields: fields, parent: nil)) { count += 1 }
            case .nothingToDelete, .failed:
                continue
            }
        }
        return count
    }

    /// The field with which a record refers to another, when its fields are known.
    func fieldName(of reference: ReferenceRow) -> String? {
        if let index = indexOfKey[reference.source], case .save(let draft) = outcomes[index] {
            return draft.fields.name(of: reference)
        }
        guard let row = loaded.records[reference.source], let fields = try? FieldsBinary.decode(row.fields)
        else { return reference.kind == .parent ? "___parent" : nil }
        return fields.name(of: reference)
    }
}

extension RecordOperation.Kind {
    /// Whether it makes or changes a record.
    var isSave: Bool { self != .delete && self != .forceDelete }
}

extension RecordDraft {
    /// What the record hangs on by DELETE_SELF from now on, sorted.
    var newDeleteSelfTargets: [RecordKey] {
        let old = Set(oldReferences)
        return references.filter { $0.kind == .deleteSelf && !old.contains($0) }.map(\.target)
    }
}

extension [String: Field] {
    /// The first field, by name, that refers to the target in this way.
    fileprivate func name(of reference: ReferenceRow) -> String? {
        if reference.kind == .parent { return "___parent" }
        func refers(_ value: FieldValue?) -> Bool {
            switch value {
            case .reference(let found)?:
                found.recordName == reference.target.recordName && found.bindingKind == reference.kind
            case .list(_, let values)?: values.contains { refers($0) }
            default: false
            }
        }
        return sorted { $0.key < $1.key }.first { refers($0.value.value) }?.key
    }
}
