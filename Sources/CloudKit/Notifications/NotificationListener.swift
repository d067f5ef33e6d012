internal import CloudWire
import Foundation
internal import System

/// Waits for a device's notifications over its container's connection, from `start()` to `stop()`.
final class NotificationListener: Sendable {
    private struct State {
        var machine: CourierMachine
        /// Pending work, in order.
        var turns: [Turn] = []
        var isDraining = false
        var isStopped = false
        /// The user of the last request. The inner nil means no user; the outer nil means no request yet.
        var user: String??
        /// Cancels the pending request or pause.
        var takeBack: (@Sendable () -> Void)?
    }

    private enum Turn {
        case event(CourierMachine.Event)
        case body(@Sendable () -> Void)
    }

    private let connection: CloudConnection
    private let state: Lock<State>
    private let handler: @Sendable (NotificationEvent) -> Void

    /// - Parameter handler: called on any thread, one call at a time.
    init(
        containerIdentifier: String, connection: CloudConnection,
        handler: @escaping @Sendable (NotificationEvent) -> Void
    ) {
        self.connection = connection
        self.handler = handler
        let clientID = try? connection.account.credential().deviceID
        state = Lock(
            State(
                machine: CourierMachine(
                    containerIdentifier: containerIdentifier, environment: connection.environment,
                    clientID: clientID, random: connection.random, serverKind: connection.serverKind)))
    }

    func start() {
        post(.begin)
    }

    /// Ends the wait. A call of the handler on another thread may still be running.
    func stop() {
        let takeBack = state.withLock { state in
            state.isStopped = true
            defer { state.takeBack = nil }
            return state.takeBack
        }
        takeBack?()
    }

    /// Cancels a wait of the previous user. The next request is the new user's.
    func userChanged() {
        let takeBack = state.withLock { state in
            defer { state.takeBack = nil }
            return state.takeBack
        }
        takeBack?()
    }

    /// Calls `body` while the handler isn't running, on this thread or on the handler's. Never after the end.
    func inTurn(_ body: @escaping @Sendable () -> Void) {
        take(.body(body))
    }

    private func post(_ event: CourierMachine.Event) {
        take(.event(event))
    }

    private func take(_ turn: Turn) {
        let mustDrain = state.withLock { state in
            state.turns.append(turn)
            defer { state.isDraining = true }
            return !state.isDraining
        }
        guard mustDrain else { return }
        while let body = next() { body() }
    }

    /// Returns the next work. A response that arrives at once only adds its turn, so the stack doesn't grow.
    private func next() -> (() -> Void)? {
        state.withLock { state in
            guard !state.isStopped, !state.turns.isEmpty else {
                state.isDraining = false
                return nil
            }
            switch state.turns.removeFirst() {
            case .body(let body): return body
            case .event(let event):
                let actions = state.machine.handle(event)
                return { for action in actions { self.perform(action) } }
            }
        }
    }

    private func perform(_ action: CourierMachine.Action) {
        switch action {
        case .tell(let event):
            if !state.withLock({ $0.isStopped }) { handler(event) }
        case .pause(let milliseconds):
            keep(connection.timers.after(milliseconds: milliseconds) { self.post(.pauseIsOver) })
        case .send where isForAnotherUser(): post(.userChanged)
        case .send(let request, let timeoutSeconds):
            let started = connection.timers.elapsedMilliseconds()
            let cancel = connection.send(request, rules: RequestRules(timeoutSeconds: timeoutSeconds)) {
                reply in
                let milliseconds = self.connection.timers.elapsedMilliseconds() - started
                self.post(.answered(reply, afterMilliseconds: milliseconds))
            }
            keep(cancel)
        case .ask(let url, let timeoutSeconds):
            let started = connection.timers.elapsedMilliseconds()
            let sink = CollectingSink(bytesMax: Self.pushBytesMax)
            let request = FileRequest(url: url, sink: sink)
            keep(
                connection.transport.carry(request, timeouts: .total(timeoutSeconds)) { reply in
                    let milliseconds = self.connection.timers.elapsedMilliseconds() - started
                    let whole = reply.map { response in
                        WireResponse(status: response.status, headers: response.headers, body: sink.bytes)
                    }
                    self.post(.answered(whole, afterMilliseconds: milliseconds))
                })
        }
    }

    /// Maximum bytes of a notification.
    private static let pushBytesMax = 64 << 10

    /// Returns true if the user has changed since the last request. The wait itself doesn't name the user.
    private func isForAnotherUser() -> Bool {
        guard let credential = try? connection.account.credential() else { return false }
        return state.withLock { state in
            let before = state.user
            state.user = .some(credential.userRecordName)
            guard let before else { return false }
            return before != credential.userRecordName
        }
    }

    private func keep(_ takeBack: @escaping @Sendable () -> Void) {
        // The previous closure is released after the lock.
        let (isStopped, _) = state.withLock { state in
            defer { if !state.isStopped { state.takeBack = takeBack } }
            return (state.isStopped, state.takeBack)
        }
        if isStopped { takeBack() }
    }
}

/// Collects the bytes of a response.
private final class CollectingSink: DownloadSink {
    private let kept = Lock<[UInt8]>([])
    private let bytesMax: Int
    var bytes: [UInt8] { kept.withLock { $0 } }

    init(bytesMax: Int) {
        self.bytesMax = bytesMax
    }

    func write(_ bytes: UnsafeRawBufferPointer) throws {
        try kept.withLock { kept in
            guard kept.count + bytes.count <= bytesMax else {
                throw CKError(.serverResponseLost, "The notification has more than \(bytesMax) bytes.")
            }
            kept += bytes
        }
    }
}
