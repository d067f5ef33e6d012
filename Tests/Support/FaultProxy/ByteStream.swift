import Glibc

/// One side of an exchange: bytes in and out of a socket, by one thread, until the proxy is told to stop.
final class ByteStream {
    let descriptor: Descriptor
    private let stop: Signal
    private var buffer = [UInt8]()

    init(_ descriptor: Descriptor, stop: Signal) {
        self.descriptor = descriptor
        self.stop = stop
    }

    /// The next `count` bytes.
    func take(_ count: Int, watching other: ByteStream? = nil) throws -> [UInt8] {
        while buffer.count < count {
            guard try readMore(watching: other) else { throw ProxyError.closed }
        }
        let taken = Array(buffer[..<count])
        buffer.removeFirst(count)
        return taken
    }

    /// The bytes up to the next `mark` and the mark itself; nil at the end of the stream if nothing came before it.
    func take(through mark: [UInt8], bytesMax: Int, watching other: ByteStream? = nil) throws -> [UInt8]? {
        var searched = 0
        while true {
            if let end = position(of: mark, from: searched) { return try take(end) }
            searched = max(0, buffer.count - mark.count)
            guard buffer.count <= bytesMax else { throw ProxyError.notHTTP("more than \(bytesMax) bytes") }
            guard try readMore(watching: other) else {
                if buffer.isEmpty { return nil }
                throw ProxyError.closed
            }
        }
    }

    /// Everything until the peer closes.
    func takeRest(watching other: ByteStream?) throws -> [UInt8] {
        while try readMore(watching: other) {}
        defer { buffer = [] }
        return buffer
    }

    var isEmpty: Bool { buffer.isEmpty }

    func write(_ bytes: some Sequence<UInt8>) throws {
        let bytes = Array(bytes)
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                send(descriptor.number, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
            }
            if count >= 0 {
                sent += count
            } else if errno == EAGAIN {
                try wait(for: Int16(POLLOUT))
            } else if errno != EINTR {
                throw ProxyError.closed
            }
        }
    }

    /// Waits until the peer closes or `signal` is raised. Returns whether it was the signal.
    func wait(for signal: Signal, timeoutMilliseconds: Int? = nil) throws -> Bool {
        var polled = [
            pollfd(fd: signal.descriptor.number, events: Int16(POLLIN), revents: 0),
            pollfd(fd: stop.descriptor.number, events: Int16(POLLIN), revents: 0),
            pollfd(fd: descriptor.number, events: Self.hangUp, revents: 0),
        ]
        while poll(&polled, nfds_t(polled.count), Int32(timeoutMilliseconds ?? -1)) < 0 {
            guard errno == EINTR else { throw ProxyError.system("poll", errno) }
        }
        if polled[1].revents != 0 { throw ProxyError.stopped }
        if polled[0].revents != 0 { return true }
        if polled[2].revents != 0 { throw ProxyError.otherSideGone }
        return false
    }

    // POLLRDHUP is a macro that Swift does not import in every version.
    private static let hangUp: Int16 = 0x2000

    /// Returns false at the end of the stream.
    private func readMore(watching other: ByteStream?) throws -> Bool {
        try wait(for: Int16(POLLIN), watching: other)
        var bytes = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(descriptor.number, &bytes, bytes.count, 0)
            if count > 0 {
                buffer += bytes[..<count]
                return true
            }
            if count == 0 { return false }
            guard errno == EINTR else { throw ProxyError.closed }
        }
    }

    /// Waits until there is something to read or accept.
    func waitForInput() throws {
        try wait(for: Int16(POLLIN))
    }

    private func wait(for events: Int16, watching other: ByteStream? = nil) throws {
        var polled = [
            pollfd(fd: descriptor.number, events: events, revents: 0),
            pollfd(fd: stop.descriptor.number, events: Int16(POLLIN), revents: 0),
            // A negative descriptor is left out.
            pollfd(fd: other?.descriptor.number ?? -1, events: Self.hangUp, revents: 0),
        ]
        while poll(&polled, nfds_t(polled.count), -1) < 0 {
            guard errno == EINTR else { throw ProxyError.system("poll", errno) }
        }
        if polled[1].revents != 0 { throw ProxyError.stopped }
        if polled[0].revents == 0, polled[2].revents != 0 { throw ProxyError.otherSideGone }
    }

    private func position(of mark: [UInt8], from start: Int) -> Int? {
        guard buffer.count >= mark.count else { return nil }
        for index in start...(buffer.count - mark.count)
        where buffer[index..<index + mark.count].elementsEqual(mark) {
            return index + mark.count
        }
        return nil
    }
}
