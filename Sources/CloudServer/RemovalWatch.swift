import CloudService
import CloudStore
import Dispatch
import System

/// Looks for containers that an operator is removing: refuses requests for them, closes them, and goes on with what an
/// earlier process began.
final class RemovalWatch: Sendable {
    /// How often the control file is looked at, as often as for tokens that were ended.
    static let lookMilliseconds = ControlStore.freshMilliseconds
    /// Looks that are left out after one at which removing failed.
    private static let looksAfterFailure = 40

    private struct Interrupted: Error {}

    private struct State {
        var isStopped = false
        var isStarted = false
        var looksToLeaveOut = 0
        /// The last failure, which is logged once.
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
    private let ended = DispatchSemaphore(value: 0)

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

    /// Looks now and then, on a thread of its own, until `stop`.
    ///
    /// - Throws: `SystemThread.NotStarted`.
    func start() throws {
        // Before the thread runs, so that a concurrent `stop` waits for it.
        state.withLock { $0.isStarted = true }
        do throws(SystemThread.NotStarted) {
            try SystemThread.detach(name: "yap removals") { [self] in
                repeat { look() } while !alarm.wait(milliseconds: Self.lookMilliseconds)
                ended.signal()
            }
        } catch {
            state.withLock { $0.isStarted = false }
            throw error
        }
    }

    /// Returns when the thread has ended. What it was removing goes on at the next start.
    func stop() {
        let isStarted = state.withLock { state in
            state.isStopped = true
            return state.isStarted
        }
        alarm.ring()
        if isStarted { ended.wait() }
    }

    /// Rejects and removes what the control file says.
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
