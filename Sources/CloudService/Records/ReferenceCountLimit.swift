import CloudStore
import CloudWire

/// Enforces the maximum number of references with DELETE_SELF to one record.
struct ReferenceCountLimit {
    /// Changes a target's count by an operation.
    private typealias Step = (index: Int, target: RecordKey)

    private let countMax: Int
    private let counts: [RecordKey: Int]
    private let added: [Step]
    private let freed: [Step]

    init(_ outcomes: [ModifyOutcome], counts: [RecordKey: Int], countMax: Int) {
        self.countMax = countMax
        // Only targets near the limit are counted exactly.
        let nearLimit = counts.filter { $1 + outcomes.count > countMax }
        self.counts = nearLimit
        var (added, freed): ([Step], [Step]) = ([], [])
        for (index, outcome) in outcomes.enumerated() where !nearLimit.isEmpty {
            let (before, after) = Self.references(of: outcome, to: nearLimit)
            added += Set(after).subtracting(before).sorted().map { (index, $0) }
            freed += Set(before).subtracting(after).sorted().map { (index, $0) }
        }
        self.added = added
        self.freed = freed
    }

    /// Returns the operations that exceed the limit, with their targets. Earlier operations of the request
    /// take precedence.
    ///
    /// - Parameter isDone: whether an operation has not failed.
    func failures(isDone: (Int) -> Bool) -> [(index: Int, target: RecordKey)] {
        var counts = counts
        for step in freed where isDone(step.index) { counts[step.target]? -= 1 }
        var failures: [Step] = []
        for step in added where isDone(step.index) && failures.last?.index != step.index {
            guard let count = counts[step.target], count >= countMax else {
                counts[step.target]? += 1
                continue
            }
            failures.append(step)
        }
        return failures
    }

    /// Returns the targets of a record before and after an operation.
    private static func references(
        of outcome: ModifyOutcome, to targets: [RecordKey: Int]
    ) -> (before: [RecordKey], after: [RecordKey]) {
        func found(_ references: [ReferenceRow]) -> [RecordKey] {
            references.filter { $0.kind == .deleteSelf && targets[$0.target] != nil }.map(\.target)
        }
        switch outcome {
        case .save(let draft): return (found(draft.oldReferences), found(draft.references))
        case .delete(let row):
            let fields = (try? FieldsBinary.decode(row.fields)) ?? [:]
            return (found(bindingReferences(of: row.key, fields: fields, parent: nil)), [])
        case .madeBefore, .nothingToDelete, .failed: return ([], [])
        }
    }
}
