/// A view as a long-lived read showed it, from which the next read computes what changed.
///
/// ```swift
/// var state = YapDatabaseViewState(open, sections: .sorted)
/// var sections = YapDatabaseViewSections<String, Todo>()
/// sections.apply(try await list.changes(of: &state))
/// try await list.moveToNewest()
/// sections.apply(try await list.changes(of: &state))
/// ```
public struct YapDatabaseViewState<Object: Sendable, Group: YapDatabaseViewGroup>: Sendable {
    private let view: YapDatabaseView<Object, Group>
    private let initial: YapDatabaseViewMappings<Group>
    private var reader: ViewReader<Object, Group>?

    /// Makes the state before the first read.
    ///
    /// - Parameters:
    ///   - view: A registered view.
    ///   - mappings: Which groups are sections, and which of their rows are shown.
    public init(
        _ view: YapDatabaseView<Object, Group>, sections mappings: YapDatabaseViewMappings<Group> = .sorted
    ) {
        self.view = view
        initial = mappings
    }

    /// The sections of the last read; none before the first.
    public var mappings: YapDatabaseViewMappings<Group> { reader?.mappings ?? initial }

    fileprivate mutating func read(
        _ transaction: YapDatabaseReadTransaction, log: CommitLog
    ) throws -> YapDatabaseViewChange<Object, Group> {
        // What another database showed has nothing in common with this one.
        var reader = self.reader.flatMap { $0.log === log ? $0 : nil } ?? ViewReader(view, initial, log: log)
        let change = try reader.read(transaction)
        self.reader = reader
        return change
    }
}

extension YapDatabaseLongLivedRead {
    /// The sections and rows of a view at the snapshot, as changes from those of the last call: one batch for a list.
    ///
    /// The first change is a reset: everything as it is now. So is one after more commits than are known.
    ///
    /// - Parameter state: What the last call showed. Left as it is if the call throws.
    /// - Throws: As `read`; `YapDatabaseError`: `extensionNotRegistered`, `decoding`.
    public func changes<Object: Sendable, Group: YapDatabaseViewGroup>(
        of state: inout YapDatabaseViewState<Object, Group>
    ) async throws -> YapDatabaseViewChange<Object, Group> {
        let (before, log) = (state, database.log)
        let (change, after) = try await read { transaction in
            var state = before
            return (try state.read(transaction, log: log), state)
        }
        state = after
        return change
    }
}

extension YapDatabaseLongLivedRead.Blocking {
    /// The sections and rows of a view at the snapshot, as the asynchronous form has them.
    ///
    /// - Throws: As the asynchronous form, and as `read`.
    @available(*, noasync, message: "call `try await changes(of:)`")
    public func changes<Object: Sendable, Group: YapDatabaseViewGroup>(
        of state: inout YapDatabaseViewState<Object, Group>
    ) throws -> YapDatabaseViewChange<Object, Group> {
        let before = state
        let (change, after) = try read { transaction in
            var state = before
            return (try state.read(transaction, log: database.log), state)
        }
        state = after
        return change
    }

    private var database: YapDatabase { owner.database }
}
