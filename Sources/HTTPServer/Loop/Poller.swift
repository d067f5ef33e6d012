import CLinux
import Glibc

/// An epoll instance and the buffer for its events. One event loop owns it.
final class Poller {
    private static let eventsMax = 256

    private let descriptor: Int32
    private let events = UnsafeMutableBufferPointer<epoll_event>.allocate(capacity: eventsMax)

    /// - Throws: `HTTPServerError` when the system has no descriptor left.
    init() throws {
        descriptor = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard descriptor >= 0 else { throw HTTPServerError.system("epoll_create1", errno) }
    }

    deinit {
        if descriptor >= 0 { Glibc.close(descriptor) }
        events.deallocate()
    }

    /// Watches a descriptor. Its events carry `key`.
    ///
    /// - Returns: false if the system refused.
    func add(_ watched: Int32, _ interest: UInt32, key: UInt64) -> Bool {
        control(EPOLL_CTL_ADD, watched, interest, key)
    }

    /// Changes the events that are watched of a descriptor.
    func change(_ watched: Int32, _ interest: UInt32, key: UInt64) {
        _ = control(EPOLL_CTL_MOD, watched, interest, key)
    }

    /// Waits for events.
    ///
    /// - Parameter milliseconds: maximum time to wait; -1 for no limit.
    /// - Returns: the events. Valid until the next wait.
    func wait(milliseconds: Int32) -> UnsafeMutableBufferPointer<epoll_event>.SubSequence {
        let count = epoll_wait(descriptor, events.baseAddress, Int32(Self.eventsMax), milliseconds)
        return events[..<max(0, Int(count))]
    }

    private func control(_ operation: Int32, _ watched: Int32, _ interest: UInt32, _ key: UInt64) -> Bool {
        var event = epoll_event()
        event.events = interest
        event.data.u64 = key
        return epoll_ctl(descriptor, operation, watched, &event) == 0
    }
}
