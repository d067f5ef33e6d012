internal import CloudWire

/// The result of a field's merge rule.
struct MergedField {
    var field: Field
    /// Whether it has the changes of both sides, as the ready rules ensure.
    var isCombined = false
}

/// The three-way merge of one record, field by field: the original values, the pending ones, and the server's.
struct FieldMerge {
    /// Values that are stored in the row.
    var toStore: [String: Field] = [:]
    /// Values that are still uploaded.
    var toUpload: [String: Field] = [:]
    /// The fields in which a rule combined both sides' changes.
    var combined: Set<String> = []

    /// - Parameters:
    ///   - names: The model's fields.
    ///   - local: The row's values.
    ///   - pending: The pending changes, the newest of each field.
    ///   - originals: The values before the pending changes, the earliest of each field. A missing field isn't known.
    ///   - remote: The server's values.
    ///   - isKnown: Whether the changes were made from these values of the server: no other device has changed anything
    ///     since.
    ///   - defaults: Returns the values of a new object, for fields without a value.
    ///   - merge: The merge rule of a field; nil for none.
    ///   - sums: The fields in which two equal changes count twice.
    init(
        names: [String], local: [String: Field], pending: [String: Field], originals: [String: Field],
        remote: [String: Field], isKnown: Bool = false, defaults: () throws -> [String: Field],
        merge: (String, Field?, Field, Field?) throws -> MergedField?, sums: Set<String> = []
    ) rethrows {
        for name in names {
            let here = local[name] ?? .cleared
            let there = remote[name] ?? .cleared
            if here.says(there) {
                if sums.contains(name), pending[name] != nil, let base = originals[name], !base.says(there),
                    let sum = try merge(name, base, here, there)?.field, !sum.says(there)
                {
                    (toStore[name], toUpload[name]) = (sum, sum)
                }
                continue
            }
            guard let waiting = pending[name] else {
                toStore[name] = there
                continue
            }
            var isUnchanged = originals[name]?.says(there) ?? false
            if !isUnchanged, there.value == nil {
                // The field was never set: the server has no value of it, and an object its default.
                let byDefault = try defaults()[name]
                isUnchanged = originals[name]?.isAbsent(byDefault) ?? true
            }
            if isUnchanged {
                toUpload[name] = waiting
                // A version of the app that can't read the stored value may have written the row meanwhile. The queue's
                // copy of a file is deleted after it was sent, so its path is never stored in the row.
                if !here.says(waiting), !waiting.isCopyOfFile { toStore[name] = waiting }
            } else if let merged = try merge(name, originals[name], here, remote[name]) {
                if merged.isCombined { combined.insert(name) }
                if !merged.field.says(here) { toStore[name] = merged.field }
                if !merged.field.says(there) { toUpload[name] = merged.field }
            } else if isKnown, originals[name]?.value != nil {
                // An edit of a field that is new here, from its default. If the original had no value, the edit may
                // come from a version of the app that didn't sync the field, and be older than the server's value.
                toUpload[name] = waiting
            } else {
                toStore[name] = there
            }
        }
        // Changes of other fields that the app queued itself stay as long as the server still has the original value.
        for (name, waiting) in pending.sorted(by: { $0.key < $1.key }) where !names.contains(name) {
            let there = remote[name] ?? .cleared
            if let original = originals[name], original.says(there), !waiting.says(there) {
                toUpload[name] = waiting
            }
        }
    }
}
