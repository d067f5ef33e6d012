import Foundation
internal import System

/// An observation of changes, even before the container can be resolved: a missing configuration may be written while
/// the program runs.
final class NotificationObservation: Sendable {
    private struct Wanted {
        /// Retains the container, so that listening continues without other references to it.
        var core: ContainerCore
        var handler: @Sendable (NotificationEvent) -> Void
    }

    private struct State {
        /// Nil after the end.
        var wanted: Wanted?
        /// Ends the observation, once the container is resolved.
        var leave: (@Sendable () -> Void)?
    }

    private let state: Lock<State>

    init(_ core: ContainerCore, _ handler: @escaping @Sendable (NotificationEvent) -> Void) {
        state = Lock(State(wanted: Wanted(core: core, handler: handler)))
    }

    func begin() {
        guard let core = state.withLock({ $0.wanted })?.core else { return }
        // Resolving the container reads files.
        if core.isInline {
            seek(attempt: 1)
        } else {
            DispatchQueue.global().async { self.seek(attempt: 1) }
        }
    }

    func end() {
        // Removed under the lock, released after it.
        let ended = state.withLock { state in
            defer { state = State() }
            return state
        }
        ended.leave?()
    }

    // Releasing an active observation ends it.
    deinit { state.withLock { $0.leave }?() }

    private func seek(attempt: Int) {
        guard let wanted = state.withLock({ $0.wanted }) else { return }
        do throws(CKError) {
            listen(at: try wanted.core.resolved(), wanted.handler)
        } catch {
            if attempt == 1 { wanted.handler(.interrupted(error)) }
            let pause = RequestRules.pauseMilliseconds(
                afterAttempt: attempt, unitInterval: SystemRandomSource().nextUnitInterval())
            DispatchTimerSource.shared.after(milliseconds: pause) { [weak self] in
                guard let self else { return }
                DispatchQueue.global().async { self.seek(attempt: attempt + 1) }
            }
        }
    }

    private func listen(
        at resolved: ResolvedContainer, _ handler: @escaping @Sendable (NotificationEvent) -> Void
    ) {
        let leave = resolved.notifications.observe(handler)
        let isWanted = state.withLock { state in
            guard state.wanted != nil else { return false }
            state.leave = leave
            return true
        }
        if !isWanted { leave() }
    }
}
