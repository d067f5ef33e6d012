import Foundation
internal import System

/// Shares one listener of a container among all observers, because the server reports each change to a device once.
final class NotificationHub: Sendable {
    private struct Observer {
        var handler: @Sendable (NotificationEvent) -> Void
        /// True if the observer has received `listening`, or will receive it first.
        var isIn: Bool
    }

    private struct State {
        var listener: NotificationListener?
        /// Number of the current listener. Events of former listeners are ignored.
        var generation = 0
        var observers: [Int: Observer] = [:]
        var lastNumber = 0
        var isListening = false

        /// Returns the handlers of the observers that `isMeant` selects, in the order of registration.
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

    /// Calls `handler` with the events, one call at a time, beginning with `listening` if the device listens already.
    /// - Returns: a closure that ends the observation. The last observer ends the listening.
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

    /// Waits for the new user's notifications, and no longer for the previous user's.
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
            // Nil until now, because the end of the previous listener has removed it and begun another generation.
            guard state.generation == generation, !state.observers.isEmpty else { return false }
            state.listener = listener
            return true
        }
        if isWanted { listener.start() }
    }

    /// Sends `listening` to an observer that was added while the device was listening. Called in turn with
    /// the listener's events.
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
        // Removed under the lock, released and stopped after it.
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
    /// Calls `handler` with the changes of other devices, on any thread and one call at a time.
    /// - Returns: a closure that ends the observation.
    package func observeNotifications(
        _ handler: @escaping @Sendable (NotificationEvent) -> Void
    ) -> @Sendable () -> Void {
        core.observeNotifications(handler)
    }
}

extension CKDatabase {
    /// Calls `handler` with the changes of other devices in this database, on any thread and one call at a time.
    /// - Returns: a closure that ends the observation.
    package func observeNotifications(
        _ handler: @escaping @Sendable (NotificationEvent) -> Void
    ) -> @Sendable () -> Void {
        // The resolved container retains the handler, which must not retain the container. The listener
        // retains it.
        core.observeNotifications { [weak core, databaseScope] event in
            if case .notification(let notification) = event,
                !Self.isMeant(by: notification, databaseScope, core?.identifier)
            {
                return
            }
            handler(event)
        }
    }

    /// Returns true if the notification is about this database.
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
