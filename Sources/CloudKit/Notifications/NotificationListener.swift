internal import CloudWire
import Foundation
internal import System

/// Waits for a device's notifications over its container's connection, from `start()` to `stop()`.
final class NotificationListener: Sendable {
    private struct State {
        var machine: CourierMachine
        /// What is to be done, one after the other.
        var turns: [Turn] = []
        var isDraining = false
        var isStopped = false
        /// Whose changes are listened to; nil inside: nobody was signed in.
        var user: String??
        /// Takes back what is waited for: an answer, or the end of a pause.
        var takeBack: (@Sendable () -> Void)?
    }

    private enum Turn {
        case event(CourierMachine.Event)
        case body(@Sendable () -> Void)
    }

    private let connection: CloudConnection
    private let state: Lock<State>
    private let handler: @Sendable (NotificationEvent) -> Void

    /// - Parameter handler: Called on any thread, one call at a time.
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

    /// Ends the wait. What is being told on another thread at this moment is still told.
    func stop() {
        let takeBack = state.withLock { state in
            state.isStopped = true
            defer { state.takeBack = nil }
            return state.takeBack
        }
        takeBack?()
    }

    /// Gives up a wait for a former user's notifications: the next request is the new user's.
    func userChanged() {
        let takeBack = state.withLock { state in
            defer { state.takeBack = nil }
            return state.takeBack
        }
        takeBack?()
    }

    /// Calls `body`, here or on the thread that calls the handler, while the handler isn't called; never after the end.
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

    /// What comes next. An answer that comes at once only adds its turn: the stack doesn't grow.
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
                connection.transport.carry(request, timeoutSeconds: timeoutSeconds) { reply in
                    let milliseconds = self.connection.timers.elapsedMilliseconds() - started
                    let whole = reply.map { response in
                        WireResponse(status: response.status, headers: response.headers, body: sink.bytes)
                    }
                    self.post(.answered(whole, afterMilliseconds: milliseconds))
                })
        }
    }

    /// Bytes that a notification may have.
    private static let pushBytesMax = 64 << 10

    /// Whether somebody else is signed in than at the last request. The wait itself doesn't say who waits.
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
        // The one before is released after the lock.
        let (isStopped, _) = state.withLock { state in
            defer { if !state.isStopped { state.takeBack = takeBack } }
            return (state.isStopped, state.takeBack)
        }
        if isStopped { takeBack() }
    }
}

/// Keeps the bytes of an answer.
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
