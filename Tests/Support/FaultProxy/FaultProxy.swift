import Dispatch
import Foundation
import Glibc
import System

/// A proxy between clients and a server on this machine's loopback that does to each exchange what it is told.
///
/// It runs on threads of its own, one a connection. Requests are read whole, replies too, so that a fault is about one
/// exchange and not about bytes that happened to come together. Each exchange has its own connection to the server.
package final class FaultProxy: Sendable {
    /// Says what is done to an exchange. Called with the proxy's lock held, in the order of the exchanges: it may not
    /// call the proxy.
    package typealias Plan = @Sendable (ProxyExchange) -> Fault
    /// Told of each moment, on the connection's thread, which waits for it: it may block, and may call the proxy,
    /// except for `stop`, `cutConnections` and `refuseConnections`, which wait for the connections.
    package typealias Handler = @Sendable (ProxyEvent) -> Void

    private struct State {
        var targetPort: Int
        var plan: Plan
        var handler: Handler
        var counts = ProxyCounts()
        var pathCounts = [String: Int]()
        var listener: Listener?
        var connectionNumber = 0
        var connections = [Int: Signal]()
        var withheld = [Int: WithheldReply]()
    }

    private final class WithheldReply: Sendable {
        let signal: Signal
        let isReleased = Lock(false)
        init() throws { signal = try Signal() }
    }

    private struct Listener {
        let stop: Signal
        let ended: DispatchSemaphore
    }

    /// Where clients connect to.
    package let port: Int
    private let state: Lock<State>
    private let running = DispatchGroup()

    /// Starts to listen on a free port, and passes everything to `targetPort`.
    package init(targetPort: Int) throws {
        let descriptor = try Sockets.listener(port: 0)
        port = try Sockets.port(of: descriptor)
        state = Lock(State(targetPort: targetPort, plan: { _ in .pass }, handler: { _ in }))
        try listen(descriptor)
    }

    /// What was done so far.
    package var counts: ProxyCounts { state.withLock(\.counts) }

    /// From here on requests go to another port: the server was started again.
    package func retarget(port: Int) {
        state.withLock { $0.targetPort = port }
    }

    /// What happens to exchanges that come from here on.
    package func plan(_ plan: @escaping Plan) {
        state.withLock { $0.plan = plan }
    }

    /// Who is told of the exchanges.
    package func handle(_ handler: @escaping Handler) {
        state.withLock { $0.handler = handler }
    }

    /// Lets the withheld reply of exchange `number` go to the client; does nothing if none is withheld.
    package func release(_ number: Int) {
        decide(number, isReleased: true)
    }

    /// Throws the withheld reply of exchange `number` away and closes the client's connection.
    package func drop(_ number: Int) {
        decide(number, isReleased: false)
    }

    /// Closes all connections, as a network that goes away; waits until they are closed.
    package func cutConnections() {
        for connection in state.withLock({ Array($0.connections.values) }) { connection.raise() }
        running.wait()
    }

    /// Closes the port and all connections: clients are refused.
    package func refuseConnections() {
        let listener = state.withLock { state in
            defer { state.listener = nil }
            return state.listener
        }
        listener?.stop.raise()
        listener?.ended.wait()
        cutConnections()
    }

    /// Opens the port again after `refuseConnections`.
    package func acceptConnections() throws {
        guard state.withLock({ $0.listener == nil }) else { return }
        try listen(try Sockets.listener(port: port))
    }

    /// Ends it; waits until every thread of it has ended.
    package func stop() {
        refuseConnections()
    }

    // MARK: Threads

    private func listen(_ descriptor: Descriptor) throws {
        let listener = Listener(stop: try Signal(), ended: DispatchSemaphore(value: 0))
        state.withLock { $0.listener = listener }
        Thread { [self] in
            acceptLoop(descriptor, stop: listener.stop)
            // The thread lets go of the socket only after whoever waits for its end has gone on.
            shutdown(descriptor.number, Int32(SHUT_RDWR))
            listener.ended.signal()
        }.start()
    }

    private func acceptLoop(_ listener: consuming Descriptor, stop: Signal) {
        while true {
            var polled = [
                pollfd(fd: listener.number, events: Int16(POLLIN), revents: 0),
                pollfd(fd: stop.descriptor.number, events: Int16(POLLIN), revents: 0),
            ]
            if poll(&polled, 2, -1) < 0, errno != EINTR { return }
            if polled[1].revents != 0 { return }
            guard polled[0].revents != 0, let client = Sockets.accepted(from: listener) else { continue }
            start(client)
        }
    }

    private func start(_ client: Descriptor) {
        guard let signal = try? Signal() else { return }
        running.enter()
        let number = state.withLock { state in
            state.connectionNumber += 1
            state.counts.connections += 1
            state.connections[state.connectionNumber] = signal
            return state.connectionNumber
        }
        Thread { [self] in
            ProxyConnection(self, client: client, stop: signal).run()
            state.withLock { _ = $0.connections.removeValue(forKey: number) }
            running.leave()
        }.start()
    }

    // MARK: For a connection

    var targetPort: Int { state.withLock(\.targetPort) }

    func begin(_ request: HTTPMessage) -> (ProxyExchange, Fault) {
        let target = request.firstLine[1].split(
            separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let path = String(target[0])
        return state.withLock { state in
            state.counts.exchanges += 1
            state.pathCounts[path, default: 0] += 1
            let exchange = ProxyExchange(
                number: state.counts.exchanges, pathNumber: state.pathCounts[path] ?? 0,
                method: request.firstLine[0], path: path, query: target.count > 1 ? String(target[1]) : "",
                headers: request.headers, body: request.body)
            return (exchange, state.plan(exchange))
        }
    }

    func tell(_ event: ProxyEvent) {
        state.withLock(\.handler)(event)
    }

    func count(_ key: any WritableKeyPath<ProxyCounts, Int> & Sendable) {
        state.withLock { $0.counts[keyPath: key] += 1 }
    }

    /// Waits for the decision about a withheld reply. Returns whether the client gets it.
    func waitForDecision(_ exchange: ProxyExchange, client: ByteStream, told: () -> Void) throws -> Bool {
        let withheld = try WithheldReply()
        state.withLock { $0.withheld[exchange.number] = withheld }
        defer { state.withLock { _ = $0.withheld.removeValue(forKey: exchange.number) } }
        told()
        _ = try client.wait(for: withheld.signal)
        return withheld.isReleased.withLock { $0 }
    }

    private func decide(_ number: Int, isReleased: Bool) {
        guard let withheld = state.withLock({ $0.withheld[number] }) else { return }
        withheld.isReleased.withLock { $0 = isReleased }
        withheld.signal.raise()
    }
}
