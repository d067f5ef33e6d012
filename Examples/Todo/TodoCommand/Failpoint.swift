import Foundation
import System
import Yap

/// Kills this process, as the system does with one that takes too much memory, at a chosen point of a transaction: for
/// the tests and the demo, which then look at what the file holds.
final class Failpoint: YapDatabaseExtension {
    enum Point: String {
        /// Before the transaction begins.
        case beforeBegin = "kill-before-begin"
        /// After its writes, before its COMMIT.
        case beforeCommit = "kill-before-commit"
        /// After its COMMIT, before anybody hears of it.
        case afterCommit = "kill-after-commit"
    }

    static let classVersion = 1
    let versionTag = "1"
    private let point: Point
    /// How many transactions pass before the one that is hit; none are counted before `arm`.
    private let rest: Lock<Int>
    private let isArmed = Lock(false)

    /// - Parameter text: A point, and with `:3` the third transaction.
    init(_ text: String) throws {
        let parts = text.split(separator: ":", maxSplits: 1)
        guard let point = Point(rawValue: String(parts.first ?? "")),
            let number = Int(parts.dropFirst().first ?? "1"),
            number > 0
        else { throw TodoFailure.usage("there is no failpoint \(text)") }
        self.point = point
        rest = Lock(number)
    }

    /// From here on transactions count.
    func arm() {
        isArmed.withLock { $0 = true }
    }

    /// For a command that knows where its transaction begins.
    func willBegin() {
        if point == .beforeBegin { strike() }
    }

    func makeConnection(registeredName: String) -> FailpointConnection { FailpointConnection(self) }

    fileprivate func reached(_ point: Point) {
        if point == self.point { strike() }
    }

    private func strike() {
        guard isArmed.withLock({ $0 }) else { return }
        let isHit = rest.withLock { rest in
            rest -= 1
            return rest == 0
        }
        if isHit { kill(getpid(), SIGKILL) }
    }
}

final class FailpointConnection: YapDatabaseExtensionConnection {
    private let failpoint: Failpoint

    init(_ failpoint: Failpoint) {
        self.failpoint = failpoint
    }

    func makeTransaction(
        _ transaction: YapDatabaseReadTransaction, tables: YapDatabaseExtensionTables
    ) -> FailpointTransaction {
        FailpointTransaction(failpoint)
    }

    func apply(_ changes: any Sendable) {}
    func dropCaches() {}
}

final class FailpointTransaction: YapDatabaseExtensionTransaction {
    private let failpoint: Failpoint

    init(_ failpoint: Failpoint) {
        self.failpoint = failpoint
    }

    func register(previous: YapDatabaseExtensionRegistration?) -> YapDatabaseExtensionContent { .isComplete }

    /// The rows and the queue are written, and COMMIT has not been asked for.
    func flushPendingChangesToExtensionTables() throws {
        failpoint.reached(.beforeCommit)
    }

    func didCommit(snapshot: UInt64) {
        failpoint.reached(.afterCommit)
    }
}
