import CloudStore
import CloudWire

/// Checks of the references of saves.
extension ModifyReferences {
    /// Returns true if the save's reference fails because its target is missing, or was to be saved in the
    /// same batch and failed.
    func fails(_ referrer: Referrer) -> Bool {
        guard case .save = outcomes[referrer.index] else { return false }
        let target = referrer.reference.target
        let isThere = isThere(target)
        if hasFailed(target), !referrer.isOld || !isThere { return true }
        // Apple allows references to missing records, unless the reference validates its target.
        return !isThere && referrer.reference.kind != .deleteSelf
    }

    /// Returns the error for the reference of the save at `index`.
    func targetError(_ reference: ReferenceRow, at index: Int) -> WireError {
        let field = fieldName(of: reference, at: index)
        return isThere(reference.target)
            ? ServiceError.failedTarget(reference.target.recordName, field: field)
            : ServiceError.missingTarget(reference.target.recordName, field: field)
    }

    /// Returns true if the batch was to save the record, and that failed.
    private func hasFailed(_ key: RecordKey) -> Bool {
        guard let index = indexOfKey[key], case .failed = outcomes[index] else { return false }
        return savesIndex.contains(index)
    }

    /// Returns the saves that would exceed the maximum number of DELETE_SELF references to one record.
    func countFailures() -> [(Int, WireError)] {
        countLimit.failures(isDone: isDone).map { index, target in
            let reference = ReferenceRow(target: target, sourceName: "", kind: .deleteSelf)
            return (
                index,
                ServiceError.tooManyReferences(
                    to: target.recordName, field: fieldName(of: reference, at: index),
                    referencesMax: limits.deleteSelfReferencesMax)
            )
        }
    }

    private func fieldName(of reference: ReferenceRow, at index: Int) -> String? {
        if case .save(let draft) = outcomes[index] { draft.fields.name(of: reference) } else { nil }
    }

    /// Returns the field with which a record refers to another, if its fields are known.
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
    /// True if it creates or changes a record.
    var isSave: Bool { self != .delete && self != .forceDelete }
}

extension RecordDraft {
    /// The new targets of the record's DELETE_SELF references, sorted.
    var newDeleteSelfTargets: [RecordKey] {
        let old = Set(oldReferences)
        return references.filter { $0.kind == .deleteSelf && !old.contains($0) }.map(\.target)
    }
}

extension [String: Field] {
    /// Returns the first field, by name, with this reference.
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
