import Observation

/// A value on the main actor that follows a sequence, such as the query of `observe(_:)` or a list. For views and
/// other user interfaces that Swift's Observation updates.
///
/// ```swift
/// @MainActor final class InboxModel {
///     let unreadCount: YapDatabaseObservedValue<Int>
///
///     init(_ connection: YapDatabaseConnection) {
///         unreadCount = YapDatabaseObservedValue(0, following: connection.observe { try $0[unread].count() })
///     }
/// }
/// ```
///
/// It follows the sequence until it is released. The database works on other threads; the main actor only receives
/// the values.
@MainActor @Observable
public final class YapDatabaseObservedValue<Value> {
    /// State of the sequence.
    public enum State {
        /// Values still arrive.
        case isFollowing
        /// No more values arrive, because the database was closed.
        case hasEnded
        /// No more values arrive, because of an error of the query, of the view, or of the file.
        case hasFailed(any Error)
    }

    /// The newest value, or `first` until a value has arrived.
    public private(set) var value: Value
    /// Whether values still arrive, and the reason if not.
    public private(set) var state = State.isFollowing

    @ObservationIgnored private var task: Task<Void, Never>?

    /// Follows the values of a sequence.
    ///
    /// - Parameters:
    ///   - first: The value until the first one arrives.
    ///   - values: For example `connection.observe { }`.
    public convenience init<Values: AsyncSequence & Sendable>(_ first: Value, following values: Values)
    where Values.Element == Value, Value: Sendable {
        self.init(first, following: values) { $0 = $1 }
    }

    /// Follows a sequence of changes. `apply` applies each change to the value.
    ///
    /// ```swift
    /// let list = YapDatabaseObservedValue(
    ///     YapDatabaseViewSections<String, Todo>(), following: connection.changes(of: open)
    /// ) { $0.apply($1) }
    /// ```
    ///
    /// - Parameters:
    ///   - first: The value that the first change is applied to.
    ///   - changes: For example `connection.changes(of: view)`.
    ///   - apply: Changes the value. It runs on the main actor.
    public init<Changes: AsyncSequence & Sendable>(
        _ first: Value, following changes: Changes,
        apply: @escaping @MainActor (inout Value, Changes.Element) -> Void
    ) where Changes.Element: Sendable {
        value = first
        task = Task { [weak self] in
            do {
                for try await change in changes {
                    // Not retained while waiting: its release ends the task.
                    guard let self else { return }
                    apply(&self.value, change)
                }
                self?.state = .hasEnded
            } catch {
                self?.state = .hasFailed(error)
            }
        }
    }

    deinit { task?.cancel() }
}
