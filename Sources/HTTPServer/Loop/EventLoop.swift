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
    /// The bytes of all bodies that are being collected.
    let bodies: NetworkByteCounts
    /// The bytes of all answers that wait to be read.
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

/// A loop's own side: its epoll, its listening socket and its connections. Only its thread touches it.
final class EventLoop {
    static let readBufferBytes = 64 * 1024
    private static let eventsMax = 256
    private static let vectorsMax = 16
    /// How often messages are read before the loop looks at epoll, the clock and its timers again.
    private static let roundsMax = 16
    private static let listenerKey = UInt64.max
    private static let wakeKey = UInt64.max - 1

    let mailbox: EventLoopMailbox
    let shared: SharedServerState
    let options: HTTPServerOptions
    let handler: any HTTPHandler
    let limits: HTTPParserLimits
    var identifiers: RequestIdentifiers
    var date: HTTPDate

    let epoll: Int32
    var listener: Int32
    var connections = [HTTPConnection?]()
    var connectionCount = 0
    var turnedAwayCount = 0
    var generation: UInt32 = 0
    /// Connections to go on with before sleeping.
    var listed = [HTTPConnection]()
    var wheel: TimerWheel
    var now: Int64
    var listenerPausedUntil: Int64?
    var stopDeadline: Int64?

    let readBuffer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: readBufferBytes)
    /// Output on its way into TLS: as much as a record holds.
    let tlsBuffer: UnsafeMutableBufferPointer<UInt8>
    let vectors = UnsafeMutableBufferPointer<iovec>.allocate(capacity: vectorsMax)
    private let events = UnsafeMutableBufferPointer<epoll_event>.allocate(capacity: eventsMax)
    private var messages = [EventLoopMessage]()
    private var due = [UInt64]()

    /// Takes the listening socket over.
    init(mailbox: EventLoopMailbox, shared: SharedServerState, listener: Int32) throws {
        self.mailbox = mailbox
        self.shared = shared
        self.listener = listener
        options = shared.options
        handler = shared.handler
        limits = options.parserLimits
        tlsBuffer = .allocate(capacity: shared.tls == nil ? 0 : 16 * 1024)
        identifiers = RequestIdentifiers(random: options.random)
        date = HTTPDate()
        now = options.monotonicClock.elapsedMilliseconds()
        wheel = TimerWheel(nowMilliseconds: now)
        vectors.initialize(repeating: iovec())
        epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard epoll >= 0 else { throw HTTPServerError.system("epoll_create1", errno) }
        guard watch(mailbox.wakeDescriptor, EPOLLIN.rawValue | EPOLLET.rawValue, Self.wakeKey),
            watch(listener, EPOLLIN.rawValue, Self.listenerKey)
        else { throw HTTPServerError.system("epoll_ctl", errno) }
    }

    deinit {
        if epoll >= 0 { Glibc.close(epoll) }
        if listener >= 0 { Glibc.close(listener) }
        readBuffer.deallocate()
        tlsBuffer.deallocate()
        vectors.deallocate()
        events.deallocate()
    }

    private func watch(_ descriptor: Int32, _ interest: UInt32, _ key: UInt64) -> Bool {
        var event = epoll_event()
        event.events = interest
        event.data.u64 = key
        return epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event) == 0
    }

    /// Serves until it is stopped and the last connection is closed.
    func run() {
        while stopDeadline == nil || connectionCount > 0 {
            let timeout = mailbox.fallAsleep() ? sleepMilliseconds() : 0
            let count = epoll_wait(epoll, events.baseAddress, Int32(Self.eventsMax), timeout)
            now = options.monotonicClock.elapsedMilliseconds()
            mailbox.wakeUp()
            for index in 0..<max(0, Int(count)) {
                handle(events[index].data.u64, events[index].events)
            }
            goOn()
            runTimers()
            // A handler that answers at once saves a look at epoll; but a client that pipelines without end would
            // keep the loop here, and from all others.
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
        var timeout = wheel.timeoutMilliseconds(now: now) ?? .max
        if let listenerPausedUntil { timeout = min(timeout, max(0, listenerPausedUntil - now)) }
        if let stopDeadline { timeout = min(timeout, max(0, stopDeadline - now)) }
        return timeout == .max ? -1 : Int32(min(timeout, 60_000))
    }

    private func handle(_ key: UInt64, _ flags: UInt32) {
        if key == Self.listenerKey {
            _ = acceptConnections()
            return
        }
        // The wake's only duty is to end the sleep; it is edge-triggered, so its count need not be read.
        if key == Self.wakeKey { return }
        guard let connection = connection(key: key) else { return }
        if flags & EPOLLIN.rawValue != 0 { connection.isReadable = true }
        if flags & EPOLLOUT.rawValue != 0 { connection.isWritable = true }
        if connection.tls != nil {
            // TLS may want to read before it can write, and the other way round.
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

    func connection(key: UInt64) -> HTTPConnection? {
        let descriptor = Int(UInt32(truncatingIfNeeded: key))
        guard descriptor < connections.count, let connection = connections[descriptor],
            connection.generation == UInt32(truncatingIfNeeded: key >> 32)
        else { return nil }
        return connection
    }

    /// Goes on with the connections that were listed, once each.
    private func goOn() {
        if listed.isEmpty { return }
        var round = [HTTPConnection]()
        swap(&round, &listed)
        for connection in round {
            connection.isListed = false
            goOn(connection)
        }
    }

    /// Has `goOn` called before the loop sleeps.
    func list(_ connection: HTTPConnection) {
        if connection.isListed { return }
        connection.isListed = true
        listed.append(connection)
    }

    private func runTimers() {
        if let until = listenerPausedUntil, now >= until { resumeListener() }
        if let stopDeadline, now >= stopDeadline { return cutAll() }
        wheel.advance(toMilliseconds: now, due: &due)
        if due.isEmpty { return }
        for key in due {
            guard let connection = connection(key: key) else { continue }
            if connection.deadlineMilliseconds <= now {
                connection.timerMilliseconds = .max
                expire(connection)
            } else if connection.timerMilliseconds <= now {
                connection.timerMilliseconds = .max
                setDeadline(connection, connection.deadlineMilliseconds)
            }
        }
        due = []
    }

    /// Moves a connection's deadline. A later one needs no new entry in the wheel: the old one looks again.
    func setDeadline(_ connection: HTTPConnection, _ deadline: Int64) {
        connection.deadlineMilliseconds = deadline
        guard deadline < connection.timerMilliseconds, connection.phase != .closed else { return }
        connection.timerMilliseconds = min(deadline, wheel.horizonMilliseconds())
        wheel.insert(connection.key, deadlineMilliseconds: deadline)
    }

    // MARK: Connections come

    /// Takes connections out of the kernel's queue; whether there may be more.
    func acceptConnections() -> Bool {
        // A bound, so that a storm of connections doesn't starve those that are there.
        for _ in 0..<64 {
            var address = sockaddr_storage()
            var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
            let descriptor = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    accept4(listener, $0, &length, Int32(SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue))
                }
            }
            if descriptor >= 0 {
                open(descriptor, address)
                continue
            }
            switch errno {
            case EAGAIN: return false
            case EMFILE, ENFILE, ENOBUFS, ENOMEM:
                pauseListener()
                return false
            default: continue
            }
        }
        return true
    }

    private func open(_ descriptor: Int32, _ address: sockaddr_storage) {
        generation &+= 1
        if generation == .max { generation = 1 }
        let connection = HTTPConnection(
            descriptor: descriptor, generation: generation, peer: text(of: address),
            network: ClientNetwork(address), limits: limits)
        let index = Int(descriptor)
        if index >= connections.count {
            connections += Array(repeating: nil, count: index + 1 - connections.count)
        }
        connections[index] = connection
        connectionCount += 1
        let total = shared.connectionCount.add(1, ordering: .relaxed).newValue
        let interest = EPOLLIN.rawValue | EPOLLOUT.rawValue | EPOLLRDHUP.rawValue | EPOLLET.rawValue
        guard watch(descriptor, interest, connection.key) else { return cut(connection, .refused) }
        if total > options.connectionsMax { return turnAway(connection, "too many connections") }
        guard shared.addresses.begin(connection.network) else {
            return turnAway(connection, "too many connections from your address")
        }
        connection.isCounted = true
        if let tls = shared.tls {
            guard let session = tls.session(descriptor) else { return cut(connection, .refused) }
            connection.tls = session
            connection.phase = .handshaking
            setDeadline(connection, now + milliseconds(options.headerTimeoutSeconds))
        } else {
            setDeadline(connection, now + milliseconds(options.idleTimeoutSeconds))
        }
    }

    /// So many connections at a time beyond the limit are told why.
    private static let turnedAwayMax = 256

    private func turnAway(_ connection: HTTPConnection, _ reason: String) {
        if shared.tls != nil || turnedAwayCount >= Self.turnedAwayMax { return cut(connection, .refused) }
        connection.isTurnedAway = true
        turnedAwayCount += 1
        shared.connectionCount.subtract(1, ordering: .relaxed)
        refuse(connection, 503, reason)
        goOn(connection)
    }

    private static let pauseMilliseconds: Int64 = 100

    /// With no descriptor left, `accept` would fail again at once; the waiting clients stay in the kernel's queue.
    private func pauseListener() {
        listenerPausedUntil = now + Self.pauseMilliseconds
        setListenerInterest(0)
    }

    func resumeListener() {
        listenerPausedUntil = nil
        setListenerInterest(EPOLLIN.rawValue)
    }

    private func setListenerInterest(_ interest: UInt32) {
        guard listener >= 0 else { return }
        var event = epoll_event()
        event.events = interest
        event.data.u64 = Self.listenerKey
        epoll_ctl(epoll, EPOLL_CTL_MOD, listener, &event)
    }

    // MARK: Messages

    /// Does what the messages say; false when there was none.
    private func readMessages() -> Bool {
        mailbox.take(&messages)
        if messages.isEmpty { return false }
        for message in messages { read(message) }
        messages.removeAll(keepingCapacity: messages.capacity <= 1024)
        return true
    }
}

/// A span of the options in the loop's unit.
func milliseconds(_ seconds: Double) -> Int64 { Int64(min(seconds, 1e9) * 1000) }
