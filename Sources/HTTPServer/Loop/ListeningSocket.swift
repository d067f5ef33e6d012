import CLinux
import Glibc

/// The listening socket of an event loop. It is closed when it is released.
final class ListeningSocket {
    enum Accepted {
        case connection(Int32, sockaddr_storage)
        /// The kernel's queue is empty.
        case none
        /// The process or the system has no descriptor or memory left.
        case exhausted
        /// The connection failed before it was accepted.
        case failed
    }

    private static let key = UInt64.max

    private let poller: Poller
    private var descriptor: Int32
    /// Time at which connections are accepted again. Nil unless paused.
    private(set) var pausedUntil: Int64?

    /// Takes over the descriptor, and closes it on failure too.
    ///
    /// - Throws: `HTTPServerError` when epoll refuses the descriptor.
    init(_ descriptor: Int32, _ poller: Poller) throws {
        self.descriptor = descriptor
        self.poller = poller
        guard poller.add(descriptor, EPOLLIN.rawValue, key: Self.key) else {
            throw HTTPServerError.system("epoll_ctl", errno)
        }
    }

    deinit { close() }

    /// True for the key of an event of a listening socket.
    static func isKey(_ key: UInt64) -> Bool { key == Self.key }

    var isOpen: Bool { descriptor >= 0 }

    /// Takes one connection out of the kernel's queue.
    func accept() -> Accepted {
        var address = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let accepted = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                accept4(descriptor, $0, &length, Int32(SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue))
            }
        }
        if accepted >= 0 { return .connection(accepted, address) }
        return switch errno {
        case EAGAIN: .none
        case EMFILE, ENFILE, ENOBUFS, ENOMEM: .exhausted
        default: .failed
        }
    }

    /// Stops reporting new connections. The clients wait in the kernel's queue.
    func pause(until milliseconds: Int64) {
        pausedUntil = milliseconds
        setInterest(0)
    }

    /// Reports new connections again.
    func resume() {
        pausedUntil = nil
        setInterest(EPOLLIN.rawValue)
    }

    func close() {
        guard isOpen else { return }
        Glibc.close(descriptor)
        descriptor = -1
    }

    private func setInterest(_ interest: UInt32) {
        if isOpen { poller.change(descriptor, interest, key: Self.key) }
    }
}
