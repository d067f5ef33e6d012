import CloudService
import CloudStore
import System

/// Watches for containers that an operator is removing: rejects their requests, closes them, and continues
/// removals that an earlier process began.
final class RemovalWatch: ThreadOwner {
    /// Interval at which the control file is checked. It is the same as for revoked tokens.
    static let lookMilliseconds = ControlStore.freshMilliseconds
    /// Checks that are skipped after a failed removal.
    private static let looksAfterFailure = 40

    private struct Interrupted: Error {}

    private struct State {
        var isStopped = false
        var looksToLeaveOut = 0
        /// The last error. Each is logged once.
        var lastError: String?
    }

    private let control: ControlStore
    private let remover: EnvironmentRemover
    private let table: EnvironmentTable
    private let courier: Courier
    private let history: RequestHistory?
    private let log: ServerLog?
    private let state = Lock(State())
    private let alarm = Alarm()
    private let thread = OwnedThread(name: "yap removals")

    init(
        _ folder: DataFolder, _ control: ControlStore, _ table: EnvironmentTable, _ courier: Courier,
        _ history: RequestHistory?, _ log: ServerLog?
    ) {
        self.control = control
        remover = EnvironmentRemover(folder, control)
        self.table = table
        self.courier = courier
        self.history = history
        self.log = log
    }

    /// Checks periodically, on a thread of its own, until `stop`.
    func start(_ start: ThreadStart) throws(SystemThread.NotStarted) {
        try thread.start(start) { [self] in
            repeat { look() } while !alarm.wait(milliseconds: Self.lookMilliseconds)
        }
    }

    /// Waits until the thread has ended. Unfinished removals continue at the next start.
    func stop() {
        state.withLock { $0.isStopped = true }
        alarm.ring()
        thread.waitForEnd()
    }

    /// Rejects requests to the containers listed in the control file, and removes them.
    func look() {
        do {
            let removals = try control.containers.removals()
            refuse(removals)
            let waits = state.withLock { state in
                state.looksToLeaveOut = max(0, state.looksToLeaveOut - 1)
                return state.looksToLeaveOut > 0
            }
            guard !waits, !removals.isEmpty else { return }
            var isDone = false
            for removal in removals where try run(removal) == .done {
                isDone = true
                for environment in removal.environments {
                    history?.remove(
                        HistoryPlace(container: removal.container, environment: environment))
                }
                tell("container removed", removal)
            }
            state.withLock { $0.lastError = nil }
            // An environment that is empty now is served again.
            if isDone { refuse(try control.containers.removals()) }
        } catch is Interrupted {
            return
        } catch {
            failed("\(error)")
        }
    }

    private func refuse(_ removals: [ControlRemoval]) {
        let isRemoved: @Sendable (CloudService.Container) -> Bool = { container in
            removals.contains { $0.covers(container.identifier, container.environment) }
        }
        table.remove(where: isRemoved)
        if !removals.isEmpty { courier.remove(where: isRemoved) }
    }

    private func run(_ removal: ControlRemoval) throws -> EnvironmentRemover.Outcome {
        try remover.run(removal) { [state] _ in
            if state.withLock({ $0.isStopped }) { throw Interrupted() }
        }
    }

    private func failed(_ error: String) {
        let isNew = state.withLock { state in
            state.looksToLeaveOut = Self.looksAfterFailure
            defer { state.lastError = error }
            return state.lastError != error
        }
        if isNew { log?.add(event: "container can't be removed", [("error", error)]) }
    }

    private func tell(_ event: String, _ removal: ControlRemoval) {
        log?.add(
            event: event,
            [
                ("container", removal.container),
                ("environment", removal.environment ?? removal.environments.joined(separator: ", ")),
            ])
    }
}
