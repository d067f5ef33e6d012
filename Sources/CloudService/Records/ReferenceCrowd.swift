import CloudStore
import CloudWire

/// How many records refer to one with DELETE_SELF, where that may become too many.
struct ReferenceCrowd {
    /// What an operation does to a target's count.
    private typealias Step = (index: Int, target: RecordKey)

    private let countMax: Int
    private let counts: [RecordKey: Int]
    private let added: [Step]
    private let freed: [Step]

    init(_ outcomes: [ModifyOutcome], counts: [RecordKey: Int], countMax: Int) {
        self.countMax = countMax
        // Few have so many that one more has to be counted exactly.
        let crowded = counts.filter { $1 + outcomes.count > countMax }
        self.counts = crowded
        var (added, freed): ([Step], [Step]) = ([], [])
        for (index, outcome) in outcomes.enumerated() where !crowded.isEmpty {
            let (before, after) = Self.references(of: outcome, to: crowded)
            added += Set(after).subtracting(before).sorted().map { (index, $0) }
            freed += Set(before).subtracting(after).sorted().map { (index, $0) }
        }
        self.added = added
        self.freed = freed
    }

    /// The operations with which there are too many, with the target: those that come first in the request have the
    /// room.
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

    /// What a record hangs on before and after.
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
