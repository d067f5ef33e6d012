/// Reads a view from snapshot to snapshot: the changes since the last read, with the rows.
struct ViewReader<Object: Sendable, Group: YapDatabaseViewGroup>: Sendable {
    typealias Change = YapDatabaseViewChange<Object, Group>

    let view: YapDatabaseView<Object, Group>
    let log: CommitLog
    private(set) var mappings: YapDatabaseViewMappings<Group>
    /// Snapshot of the mappings. Nil before the first read.
    private(set) var mark: SnapshotMark?
    /// Generation of the registration that was read. Tables of another registration can't be compared.
    private var generation: UInt64?

    init(
        _ view: YapDatabaseView<Object, Group>, _ mappings: YapDatabaseViewMappings<Group>, log: CommitLog
    ) {
        self.view = view
        self.mappings = mappings
        self.log = log
    }

    /// Returns true if a read after the commit may find a change.
    mutating func isConcerned(by commit: YapDatabaseCommit) -> Bool {
        guard let mark, commit.snapshot > mark.number else { return false }
        if commit.mayMissChanges(ofExtension: view.name) || commit.changes(ofExtension: view.name) != nil {
            return true
        }
        // The log keeps only the last commits, so a commit without changes here is skipped now and not read from the
        // log later.
        if commit.snapshot == mark.number + 1 { self.mark = commit.mark }
        return false
    }

    /// Reads the changes since the last read. The first read returns everything.
    mutating func read(_ transaction: YapDatabaseReadTransaction) throws -> Change {
        let part = try transaction[view]
        let counts = try part.counts()
        let generation = transaction.generation(of: view.name)
        let changes = generation == self.generation ? changes(to: transaction.store.mark) : nil
        let deltas = try changes.map(part.deltas)
        self.generation = generation
        mark = transaction.store.mark
        guard let deltas, agree(deltas, from: mappings.counts, to: counts) else {
            mappings.reset(to: counts)
            return Change(
                snapshot: transaction.snapshot, isReset: true, mappings: mappings,
                rows: try rows(at: paths, part))
        }
        let found = mappings.apply(deltas, counts: counts)
        return Change(
            snapshot: transaction.snapshot, isReset: false, mappings: mappings,
            sectionChanges: found.sections, rowChanges: found.rows,
            rows: try rows(at: found.rows.compactMap(\.final).sorted(), part))
    }

    /// Returns true if the changes lead from the earlier counts to the later ones. In a damaged file they may not.
    private func agree(_ deltas: [ViewRowDelta<Group>], from: [Group: Int], to: [Group: Int]) -> Bool {
        var counts = from
        for delta in deltas {
            if let original = delta.original { counts[original.group, default: 0] -= 1 }
            if let final = delta.final { counts[final.group, default: 0] += 1 }
        }
        return counts.filter { $0.value != 0 } == to
    }

    /// Returns the changes of the commits since the last read, or nil if they aren't known.
    private func changes(to newMark: SnapshotMark) -> ViewChanges<Group>? {
        guard let mark, let generation else { return nil }
        var all = ViewChanges<Group>()
        if newMark == mark { return all }
        guard let records = log.records(from: mark, to: newMark) else { return nil }
        for record in records {
            for change in record.extensionChanges where change.generation == generation {
                guard let changes = change.changes as? ViewChanges<Group> else { return nil }
                all.add(changes)
            }
        }
        return all.isEverything ? nil : all
    }

    /// Maximum rows read at once, so that a damaged count is noticed before it fills the memory.
    private static var readRowsMax: Int { 4_096 }

    /// Paths of all shown rows.
    private var paths: some Sequence<YapDatabaseViewPath> {
        mappings.sections.enumerated().lazy.flatMap { section, shown in
            (0..<shown.rowCount).lazy.map { YapDatabaseViewPath(section: section, row: $0) }
        }
    }

    /// Reads rows by their places. Consecutive rows of a group are read together.
    private func rows(
        at paths: some Sequence<YapDatabaseViewPath>, _ part: YapDatabaseViewTransaction<Object, Group>
    ) throws -> [YapDatabaseViewPath: Change.Row] {
        var rows: [YapDatabaseViewPath: Change.Row] = [:]
        var run: (group: Group, paths: [(index: Int, path: YapDatabaseViewPath)])?
        func readRun() throws {
            guard let run, let first = run.paths.map(\.index).min() else { return }
            let read = try part.rows(in: run.group, first..<first + run.paths.count)
            guard read.count == run.paths.count else {
                throw YapDatabaseError(
                    .corrupt, "the view \"\(view.name)\" counts rows of \(run.group) that don't exist")
            }
            for (index, path) in run.paths { rows[path] = read[index - first] }
        }
        for path in paths {
            guard let place = mappings.place(of: path) else { continue }
            if let last = run, let end = last.paths.last, last.group == place.group,
                abs(end.index - place.index) == 1, run.map({ $0.paths.count < Self.readRowsMax }) ?? false
            {
                run?.paths.append((place.index, path))
            } else {
                try readRun()
                run = (place.group, [(place.index, path)])
            }
        }
        try readRun()
        return rows
    }
}
