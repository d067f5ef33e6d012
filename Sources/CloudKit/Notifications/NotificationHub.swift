import Foundation
internal import Seams

/// The one listener of a container, for all who want to hear: the server tells a device each change once.
final class NotificationHub: Sendable {
    private struct State {
        var listener: NotificationListener?
        /// Numbers the listeners, so that what an ended one still tells is not heard.
        var generation = 0
        var handlers: [Int: @Sendable (NotificationEvent) -> Void] = [:]
        var lastNumber = 0
        var isListening = false
    }

    private let state = Lock(State())

    deinit { state.withLock { $0.listener }?.stop() }

    /// Calls `handler` with what is heard, beginning with `listening` if that is so already.
    /// - Returns: what ends that. The last one ends the listening.
    func observe(
        _ core: ContainerCore, _ handler: @escaping @Sendable (NotificationEvent) -> Void
    ) -> @Sendable () -> Void {
        let (number, isFirst, isListening) = state.withLock { state in
            state.lastNumber += 1
            state.handlers[state.lastNumber] = handler
            return (state.lastNumber, state.handlers.count == 1, state.isListening)
        }
        if isListening { handler(.listening(wasForgotten: false)) }
        if isFirst { begin(core) }
        // It keeps the hub: who listens goes on doing so when nothing else of the container is kept.
        return { self.end(number) }
    }

    /// Lets a device that listens wait for the new user's notifications, and no more for the former's.
    func userChanged() {
        state.withLock { $0.listener }?.userChanged()
    }

    private func begin(_ core: ContainerCore) {
        let generation = state.withLock { state in
            state.generation += 1
            return state.generation
        }
        // Where the cloud is, and who asks, stands in files.
        if core.isInline {
            listen(core, generation)
        } else {
            DispatchQueue.global().async { self.listen(core, generation) }
        }
    }

    private func listen(_ core: ContainerCore, _ generation: Int, attempt: Int = 1) {
        let place: ContainerCore.Place
        do throws(CKError) {
            place = try core.place()
        } catch {
            if attempt == 1 { tell(.interrupted(error), generation) }
            // What is missing may be written while the program runs.
            let pause = RequestRules.pauseMilliseconds(
                afterAttempt: attempt, unitInterval: SystemRandomSource().nextUnitInterval())
            DispatchTimerSource.shared.after(milliseconds: pause) { [weak self] in
                DispatchQueue.global().async { [weak self] in
                    self?.listenAgain(core, generation, attempt: attempt + 1)
                }
            }
            return
        }
        let listener = NotificationListener(
            containerIdentifier: place.identifier, connection: place.connection
        ) { [weak self] event in
            self?.tell(event, generation)
        }
        let isWanted = state.withLock { state in
            guard state.generation == generation, !state.handlers.isEmpty else { return false }
            state.listener = listener
            return true
        }
        if isWanted { listener.start() }
    }

    private func listenAgain(_ core: ContainerCore, _ generation: Int, attempt: Int) {
        let isWanted = state.withLock { $0.generation == generation && !$0.handlers.isEmpty }
        if isWanted { listen(core, generation, attempt: attempt) }
    }

    private func tell(_ event: NotificationEvent, _ generation: Int) {
        let handlers = state.withLock { state -> [@Sendable (NotificationEvent) -> Void] in
            guard state.generation == generation else { return [] }
            switch event {
            case .listening: state.isListening = true
            case .interrupted: state.isListening = false
            case .notification: break
            }
            return state.handlers.sorted { $0.key < $1.key }.map(\.value)
        }
        for handler in handlers { handler(event) }
    }

    private func end(_ number: Int) {
        // Taken out under the lock, dropped and stopped outside of it.
        let (handler, listener) = state.withLock { state in
            let handler = state.handlers.removeValue(forKey: number)
            guard handler != nil, state.handlers.isEmpty else {
                return (handler, nil as NotificationListener?)
            }
            state.generation += 1
            state.isListening = false
            defer { state.listener = nil }
            return (handler, state.listener)
        }
        _ = handler
        listener?.stop()
    }
}

extension CKContainer {
    /// Calls `handler`, on any thread and one call at a time, with what other devices change.
    /// - Returns: what ends that.
    package func observeNotifications(
        _ handler: @escaping @Sendable (NotificationEvent) -> Void
    ) -> @Sendable () -> Void {
        core.notifications.observe(core, handler)
    }
}

extension CKDatabase {
    /// Calls `handler`, on any thread and one call at a time, with what other devices change in this database.
    /// - Returns: what ends that.
    package func observeNotifications(
        _ handler: @escaping @Sendable (NotificationEvent) -> Void
    ) -> @Sendable () -> Void {
        core.notifications.observe(core) { event in
            if case .notification(let notification) = event, !self.isMeant(by: notification) { return }
            handler(event)
        }
    }

    /// Whether the notification is about this database.
    package func isMeant(by notification: CKNotification) -> Bool {
        if let identifier = notification.containerIdentifier, identifier != core.identifier { return false }
        return notification.scope == databaseScope
    }
}
