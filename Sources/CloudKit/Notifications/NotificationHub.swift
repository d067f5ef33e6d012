import Foundation
internal import System

/// The one listener of a place, for all who want to hear: the server tells a device each change once.
final class NotificationHub: Sendable {
    private struct Observer {
        var handler: @Sendable (NotificationEvent) -> Void
        /// Whether it was told that the device listens, or will be before anything else.
        var isIn: Bool
    }

    private struct State {
        var listener: NotificationListener?
        /// Numbers the listeners, so that what an ended one still tells is not heard.
        var generation = 0
        var observers: [Int: Observer] = [:]
        var lastNumber = 0
        var isListening = false

        /// The handlers of those whom `isMeant` means, in the order in which they came.
        func handlers(_ isMeant: (Observer) -> Bool) -> [@Sendable (NotificationEvent) -> Void] {
            observers.filter { isMeant($0.value) }.sorted { $0.key < $1.key }.map(\.value.handler)
        }
    }

    private let identifier: String
    private let connection: CloudConnection
    private let state = Lock(State())

    /// The hub of the container with `identifier` at `connection`.
    init(_ identifier: String, _ connection: CloudConnection) {
        self.identifier = identifier
        self.connection = connection
    }

    deinit { state.withLock { $0.listener }?.stop() }

    /// Calls `handler`, one call at a time, with what is heard, beginning with `listening` if that is so already.
    /// - Returns: what ends that. The last one ends the listening.
    func observe(_ handler: @escaping @Sendable (NotificationEvent) -> Void) -> @Sendable () -> Void {
        let (number, isFirst, listener) = state.withLock { state in
            state.lastNumber += 1
            state.observers[state.lastNumber] = Observer(handler: handler, isIn: !state.isListening)
            return (
                state.lastNumber, state.observers.count == 1, state.isListening ? state.listener : nil
            )
        }
        if isFirst { begin() }
        listener?.inTurn { [weak self] in self?.welcome(number) }
        return { self.end(number) }
    }

    /// Lets a device that listens wait for the new user's notifications, and no more for the former's.
    func userChanged() {
        state.withLock { $0.listener }?.userChanged()
    }

    private func begin() {
        let generation = state.withLock { state in
            state.generation += 1
            return state.generation
        }
        let listener = NotificationListener(
            containerIdentifier: identifier, connection: connection
        ) { [weak self] event in
            self?.tell(event, generation)
        }
        let isWanted = state.withLock { state in
            // Nil until now: the end of the listener before took it out, and began another generation.
            guard state.generation == generation, !state.observers.isEmpty else { return false }
            state.listener = listener
            return true
        }
        if isWanted { listener.start() }
    }

    /// Tells one who came while the device listened already. Called in turn with what the listener tells.
    private func welcome(_ number: Int) {
        let handler = state.withLock { state -> (@Sendable (NotificationEvent) -> Void)? in
            guard state.isListening, let observer = state.observers[number], !observer.isIn else {
                return nil
            }
            state.observers[number]?.isIn = true
            return observer.handler
        }
        handler?(.listening(wasForgotten: false))
    }

    private func tell(_ event: NotificationEvent, _ generation: Int) {
        let handlers = state.withLock { state -> [@Sendable (NotificationEvent) -> Void] in
            guard state.generation == generation else { return [] }
            switch event {
            case .listening: state.isListening = true
            case .interrupted: state.isListening = false
            case .notification, .waitEnded: return state.handlers { $0.isIn }
            }
            for number in state.observers.keys { state.observers[number]?.isIn = true }
            return state.handlers { _ in true }
        }
        for handler in handlers { handler(event) }
    }

    private func end(_ number: Int) {
        // Taken out under the lock, dropped and stopped outside of it.
        let (observer, listener) = state.withLock { state in
            let observer = state.observers.removeValue(forKey: number)
            guard observer != nil, state.observers.isEmpty else {
                return (observer, nil as NotificationListener?)
            }
            state.generation += 1
            state.isListening = false
            defer { state.listener = nil }
            return (observer, state.listener)
        }
        _ = observer
        listener?.stop()
    }
}

extension CKContainer {
    /// Calls `handler`, on any thread and one call at a time, with what other devices change.
    /// - Returns: what ends that.
    package func observeNotifications(
        _ handler: @escaping @Sendable (NotificationEvent) -> Void
    ) -> @Sendable () -> Void {
        core.observeNotifications(handler)
    }
}

extension CKDatabase {
    /// Calls `handler`, on any thread and one call at a time, with what other devices change in this database.
    /// - Returns: what ends that.
    package func observeNotifications(
        _ handler: @escaping @Sendable (NotificationEvent) -> Void
    ) -> @Sendable () -> Void {
        // The container's place keeps the handler, which must not keep the container: the listener does.
        core.observeNotifications { [weak core, databaseScope] event in
            if case .notification(let notification) = event,
                !Self.isMeant(by: notification, databaseScope, core?.identifier)
            {
                return
            }
            handler(event)
        }
    }

    /// Whether the notification is about this database.
    package func isMeant(by notification: CKNotification) -> Bool {
        Self.isMeant(by: notification, databaseScope, core.identifier)
    }

    private static func isMeant(
        by notification: CKNotification, _ scope: Scope, _ containerIdentifier: String?
    ) -> Bool {
        if let named = notification.containerIdentifier, named != containerIdentifier { return false }
        return notification.scope == scope
    }
}
