import CLinux
import Foundation

/// A connection to the server: one request after the other. Used by its loop's thread only.
package final class ClientConnection {
    /// How a slow client goes about it.
    package enum Pace {
        case full
        /// Reads so many bytes a second.
        case reading(bytesPerSecond: Int)
        /// Sends so many bytes a second.
        case sending(bytesPerSecond: Int)
    }

    private static let paceMilliseconds: Int64 = 500

    let descriptor: Int32
    private unowned let loop: ClientLoop
    private let pace: Pace
    private var unsent: ArraySlice<UInt8> = []
    private var reader: AnswerReader
    private var answered: ((Answer) -> Void)?
    /// Told when the server closes while nothing is asked.
    package var closed: (() -> Void)?
    package private(set) var isOpen = true

    /// Connects to a port of this machine.
    ///
    /// - Parameter keepsBody: whether answers come with their bodies.
    package init(_ loop: ClientLoop, port: Int, pace: Pace = .full, keepsBody: Bool = true) throws {
        self.loop = loop
        self.pace = pace
        reader = AnswerReader(keepsBody: keepsBody)
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        descriptor = socket(AF_INET, kind, 0)
        guard descriptor >= 0 else { throw AbuseError.system("socket") }
        var one: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, 4)
        if case .reading = pace {
            // What the kernel would take in for it is no slow reader's.
            var bytes: Int32 = 4096
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &bytes, 4)
        }
        try connect(to: port)
        guard loop.add(self) else { throw AbuseError.system("epoll_ctl") }
        if case .full = pace { return }
        step()
    }

    // The loop holds those that are open, so it is gone too.
    deinit { if isOpen { Glibc.close(descriptor) } }

    private func connect(to port: Int) throws {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let code = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard code != 0, errno != EINPROGRESS else { return }
        let error = AbuseError.system("connect")
        Glibc.close(descriptor)
        isOpen = false
        throw error
    }

    /// Sends a request. Its answer has the status 0 when the connection ends first.
    package func send(_ bytes: [UInt8], answered: @escaping (Answer) -> Void) {
        precondition(self.answered == nil, "one request at a time")
        self.answered = answered
        unsent = bytes[...]
        guard isOpen else { return loop.after(milliseconds: 0) { [self] in finish(Answer()) } }
        if case .sending = pace { return }
        sendRest(unsent.count)
    }

    package func close() {
        guard isOpen else { return }
        isOpen = false
        loop.remove(self)
        Glibc.close(descriptor)
        finish(Answer())
    }

    private func finish(_ answer: Answer) {
        let answered = answered
        self.answered = nil
        answered?(answer)
    }

    // MARK: The socket

    func isReady() {
        if case .sending = pace {} else { sendRest(unsent.count) }
        if case .reading = pace { return }
        while isOpen, receive(loop.buffer.count) {}
    }

    /// What a slow client does from time to time.
    private func step() {
        guard isOpen else { return }
        switch pace {
        case .full: return
        case .reading(let bytes): receive(max(1, bytes * Int(Self.paceMilliseconds) / 1000))
        case .sending(let bytes): sendRest(max(1, bytes * Int(Self.paceMilliseconds) / 1000))
        }
        loop.after(milliseconds: Self.paceMilliseconds) { [weak self] in self?.step() }
    }

    private func sendRest(_ bytesMax: Int) {
        var left = bytesMax
        while isOpen, left > 0, !unsent.isEmpty {
            let count = unsent.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, min($0.count, left), Int32(MSG_NOSIGNAL))
            }
            if count < 0 {
                if errno == EAGAIN || errno == EINTR || errno == ENOTCONN { return }
                // The answer that says why may still be there to read.
                unsent = []
                return
            }
            unsent = unsent.dropFirst(count)
            left -= count
        }
    }

    /// - Returns: Whether there may be more.
    @discardableResult
    private func receive(_ bytesMax: Int) -> Bool {
        let count = recv(descriptor, loop.buffer.baseAddress, min(bytesMax, loop.buffer.count), 0)
        if count < 0, errno == EAGAIN || errno == EINTR || errno == ENOTCONN { return false }
        guard count > 0 else {
            close()
            closed?()
            return false
        }
        if let answer = reader.take(UnsafeRawBufferPointer(rebasing: loop.buffer[..<count])) {
            finish(answer)
        }
        return true
    }
}
