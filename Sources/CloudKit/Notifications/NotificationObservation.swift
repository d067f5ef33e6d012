import Foundation
internal import System

/// Somebody who wants to hear what other devices change, also while it isn't known yet where the cloud is: what is
/// missing may be written while the program runs.
final class NotificationObservation: Sendable {
    private struct Wanted {
        /// Kept, so that listening goes on when nothing else keeps the container.
        var core: ContainerCore
        var handler: @Sendable (NotificationEvent) -> Void
    }

    private struct State {
        /// Nil after the end.
        var wanted: Wanted?
        /// Ends the listening at the place, once it has begun.
        var leave: (@Sendable () -> Void)?
    }

    private let state: Lock<State>

    init(_ core: ContainerCore, _ handler: @escaping @Sendable (NotificationEvent) -> Void) {
        state = Lock(State(wanted: Wanted(core: core, handler: handler)))
    }

    func begin() {
        guard let core = state.withLock({ $0.wanted })?.core else { return }
        // The cloud's address and the account are read from files.
        if core.isInline {
            seek(attempt: 1)
        } else {
            DispatchQueue.global().async { self.seek(attempt: 1) }
        }
    }

    func end() {
        // Taken out under the lock, dropped outside of it.
        let ended = state.withLock { state in
            defer { state = State() }
            return state
        }
        ended.leave?()
    }

    // Listening that was not ended ends when this is released.
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
