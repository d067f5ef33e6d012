import CLinux
import Glibc
import Synchronization
import System

/// State shared by all event loops of a server.
final class SharedServerState: Sendable {
    let options: HTTPServerOptions
    let handler: any HTTPHandler
    let tls: TLSCurrent?
    let connectionCount = Atomic(0)
    let addresses: AddressCounts
    /// Counts the bytes of all bodies being collected.
    let bodies: NetworkByteCounts
    /// Counts the bytes of all queued responses.
    let output: NetworkByteCounts

    init(options: HTTPServerOptions, handler: any HTTPHandler, tls: TLSCurrent?) {
        self.options = options
        self.handler = handler
        self.tls = tls
        bodies = NetworkByteCounts(
            bytesMax: options.bodyBytesOfAllMax, sharesCount: 8, bytesOfNetworkMin: 2 << 20)
        output = NetworkByteCounts(bytesMax: options.outputBytesOfAllMax, sharesCount: 1)
        addresses = AddressCounts(
            max: options.connectionsOfAddressMax, countsLoopback: options.countsLoopbackConnections)
    }
}

/// An event loop: its epoll instance, listening socket and connections. Only its thread uses it.
final class EventLoop {
    /// Maximum rounds of messages before the loop checks epoll, the clock and its timers again.
    private static let roundsMax = 16
    private static let wakeKey = UInt64.max - 1

    let mailbox: EventLoopMailbox
    let shared: SharedServerState
    let options: HTTPServerOptions
    let handler: any HTTPHandler
    let limits: HTTPParserLimits
    var identifiers: RequestIdentifiers
    var date: HTTPDate

    private let poller: Poller
    let listener: ListeningSocket
    var connections = ConnectionTable()
    private var timers: ConnectionTimers
    /// Connections to continue with before the loop sleeps.
    private var listed = [HTTPConnection]()
    var now: Int64
    /// Time at which all connections are closed. Nil until the server stops.
    var stopDeadline: Int64?
    let buffers: EventLoopBuffers
    private var messages = [EventLoopMessage]()

    /// Takes over the listening socket.
    init(mailbox: EventLoopMailbox, shared: SharedServerState, listener: Int32) throws {
        self.mailbox = mailbox
        self.shared = shared
        options = shared.options
        handler = shared.handler
        limits = options.parserLimits
        buffers = EventLoopBuffers(usesTLS: shared.tls != nil)
        identifiers = RequestIdentifiers(random: options.random)
        date = HTTPDate()
        now = options.monotonicClock.elapsedMilliseconds()
        timers = ConnectionTimers(nowMilliseconds: now)
        do {
            poller = try Poller()
        } catch {
            Glibc.close(listener)
            throw error
        }
        self.listener = try ListeningSocket(listener, poller)
        guard poller.add(mailbox.wakeDescriptor, EPOLLIN.rawValue | EPOLLET.rawValue, key: Self.wakeKey)
        else {
            throw HTTPServerError.system("epoll_ctl", errno)
        }
    }

    /// Serves until it is stopped and the last connection is closed.
    func run() {
        while stopDeadline == nil || connections.count > 0 {
            let events = poller.wait(milliseconds: mailbox.fallAsleep() ? sleepMilliseconds() : 0)
            now = options.monotonicClock.elapsedMilliseconds()
            mailbox.wakeUp()
            for event in events { handle(event.data.u64, event.events) }
            goOn()
            runTimers()
            // An immediate response saves a call of epoll. The bound keeps a client that pipelines endlessly from
            // blocking the others.
            var roundsLeft = Self.roundsMax
            while roundsLeft > 0, readMessages() {
                roundsLeft -= 1
                goOn()
            }
        }
        mailbox.close()
    }

    private func sleepMilliseconds() -> Int32 {
        if !listed.isEmpty { return 0 }
        var timeout = timers.timeoutMilliseconds(now: now) ?? .max
        if let resume = listener.pausedUntil { timeout = min(timeout, max(0, resume - now)) }
        if let stopDeadline { timeout = min(timeout, max(0, stopDeadline - now)) }
        return timeout == .max ? -1 : Int32(min(timeout, 60_000))
    }

    private func handle(_ key: UInt64, _ flags: UInt32) {
        if ListeningSocket.isKey(key) {
            _ = acceptConnections()
            return
        }
        // The wake event only ends the sleep. It is edge-triggered, so its count need not be read.
        if key == Self.wakeKey { return }
        guard let connection = connections[key: key] else { return }
        if flags & EPOLLIN.rawValue != 0 { connection.isReadable = true }
        if flags & EPOLLOUT.rawValue != 0 { connection.isWritable = true }
        if connection.tls != nil {
            // TLS may need to read before it can write, and vice versa.
            connection.isReadable = true
            connection.isWritable = true
        }
        if flags & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0 { return cut(connection, .clientLeft) }
        if flags & EPOLLRDHUP.rawValue != 0 {
            connection.sawEnd = true
            connection.isReadable = true
            if connection.phase == .handling || connection.phase == .responding {
                tellThatTheClientLeft(connection)
            }
        }
        goOn(connection)
    }

    /// Processes each listed connection once.
    private func goOn() {
        if listed.isEmpty { return }
        var round = [HTTPConnection]()
        swap(&round, &listed)
        for connection in round {
            connection.isListed = false
            goOn(connection)
        }
    }

    /// Processes the connection again before the loop sleeps.
    func list(_ connection: HTTPConnection) {
        if connection.isListed { return }
        connection.isListed = true
        listed.append(connection)
    }

    private func runTimers() {
        if let resume = listener.pausedUntil, now >= resume { listener.resume() }
        if let stopDeadline, now >= stopDeadline { return cutAll() }
        for key in timers.takeDue(now: now) {
            guard let connection = connections[key: key], timers.isExpired(connection, now: now) else {
                continue
            }
            expire(connection)
        }
    }

    func setDeadline(_ connection: HTTPConnection, _ deadline: Int64) {
        timers.setDeadline(connection, deadline)
    }

    /// Watches a new connection.
    ///
    /// - Returns: false if the system refused.
    func watch(_ connection: HTTPConnection) -> Bool {
        let interest = EPOLLIN.rawValue | EPOLLOUT.rawValue | EPOLLRDHUP.rawValue | EPOLLET.rawValue
        return poller.add(connection.descriptor, interest, key: connection.key)
    }

    /// Handles the posted messages. Returns false if there were none.
    private func readMessages() -> Bool {
        mailbox.take(&messages)
        if messages.isEmpty { return false }
        for message in messages { read(message) }
        messages.removeAll(keepingCapacity: messages.capacity <= 1024)
        return true
    }
}

/// Returns seconds as milliseconds.
func milliseconds(_ seconds: Double) -> Int64 { Int64(min(seconds, 1e9) * 1000) }
