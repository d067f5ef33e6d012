/// State of a view as a long-lived read showed it. The next read computes the changes from it.
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

    /// Creates the state before the first read.
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

    /// Sections of the last read. Empty before the first.
    public var mappings: YapDatabaseViewMappings<Group> { reader?.mappings ?? initial }

    fileprivate mutating func read(
        _ transaction: YapDatabaseReadTransaction, log: CommitLog
    ) throws -> YapDatabaseViewChange<Object, Group> {
        // A state of another database can't be compared with this one.
        var reader = self.reader.flatMap { $0.log === log ? $0 : nil } ?? ViewReader(view, initial, log: log)
        let change = try reader.read(transaction)
        self.reader = reader
        return change
    }
}

extension YapDatabaseLongLivedRead {
    /// Returns the sections and rows of a view at the snapshot, as changes from the last call: one batch for a list.
    ///
    /// The first change is a reset with the current content. So is a change after more commits than are known.
    ///
    /// - Parameter state: The state of the last call. Unchanged if the call throws.
    /// - Throws: The errors of `read`; `YapDatabaseError`: `extensionNotRegistered`, `decoding`.
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
    /// Returns the sections and rows of a view at the snapshot, as changes from the last call.
    ///
    /// - Throws: The errors of the asynchronous form, and of `read`.
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
