internal import CloudWire

/// What a field's rule made of two changes.
struct MergedField {
    var field: Field
    /// Whether it has the changes of both sides, as the ready rules see to.
    var isCombined = false
}

/// The three-way merge of one record, field by field: what was, what waits here, what the server has.
struct FieldMerge {
    /// What the row takes over.
    var toStore: [String: Field] = [:]
    /// What shall still be uploaded.
    var toUpload: [String: Field] = [:]
    /// The fields of which a rule combined both sides' changes.
    var combined: Set<String> = []

    /// - Parameters:
    ///   - names: The model's fields.
    ///   - local: What the row has.
    ///   - pending: The changes that wait, the newest of each field.
    ///   - originals: What the changed fields were, the earliest of each; a field that isn't here is not
    ///     known.
    ///   - remote: What the server has.
    ///   - isKnown: Whether it had that before the changes were made: nobody else has changed anything since.
    ///   - defaults: What a field without a value stands for: as it is in a new object.
    ///   - merge: A field's own rule; nil for none.
    ///   - sums: The fields of which two equal changes are two.
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
                // Nobody has set the field before: the server has nothing of it then, and an object its default.
                let byDefault = try defaults()[name]
                isUnchanged = originals[name]?.isAbsent(byDefault) ?? true
            }
            if isUnchanged {
                toUpload[name] = waiting
                // A version of the app that can't read what this one stored may have written the row meanwhile. The
                // queue's copy of a file is deleted once it was sent: the row never gets its path.
                if !here.says(waiting), !waiting.isCopyOfFile { toStore[name] = waiting }
            } else if let merged = try merge(name, originals[name], here, remote[name]) {
                if merged.isCombined { combined.insert(name) }
                if !merged.field.says(here) { toStore[name] = merged.field }
                if !merged.field.says(there) { toUpload[name] = merged.field }
            } else if isKnown, originals[name]?.value != nil {
                // An edit of a field that is new here, and of which the row had only the default. Where it had nothing,
                // the value may be from a version of the app that didn't sync it, and older than the server's.
                toUpload[name] = waiting
            } else {
                toStore[name] = there
            }
        }
        // What was queued past the model, by hand: it stays as long as the server's value is the one it changed.
        for (name, waiting) in pending.sorted(by: { $0.key < $1.key }) where !names.contains(name) {
            let there = remote[name] ?? .cleared
            if let original = originals[name], original.says(there), !waiting.says(there) {
                toUpload[name] = waiting
            }
        }
    }
}
