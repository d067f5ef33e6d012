import CLinux
import Foundation
import System

/// Sockets and timers of one thread: a client of many connections that takes little of the machine.
package final class ClientLoop {
    private struct Timer {
        var at: Int64
        var body: () -> Void
    }

    private static let readBytes = 256 << 10

    private let epoll: Int32
    private var connections: [Int32: ClientConnection] = [:]
    /// The next one last.
    private var timers: [Timer] = []
    /// Where every connection reads to.
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: readBytes, alignment: 16)

    /// Makes a loop for the thread that calls.
    package init() throws {
        epoll = epoll_create1(Int32(EPOLL_CLOEXEC))
        guard epoll >= 0 else { throw AbuseError.system("epoll_create1") }
    }

    deinit {
        close(epoll)
        buffer.deallocate()
    }

    /// A time that only runs forward, in microseconds.
    package static func now() -> Int64 {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        return Int64(now.tv_sec) * 1_000_000 + Int64(now.tv_nsec) / 1000
    }

    /// Calls `body` on the loop's thread after so many milliseconds.
    package func after(milliseconds: Int64, _ body: @escaping () -> Void) {
        let timer = Timer(at: Self.now() + milliseconds * 1000, body: body)
        var (low, high) = (0, timers.count)
        while low < high {
            let middle = (low + high) / 2
            if timers[middle].at > timer.at { low = middle + 1 } else { high = middle }
        }
        timers.insert(timer, at: low)
    }

    /// Runs until `isDone`, or until so many milliseconds are over.
    /// - Returns: Whether it is done.
    @discardableResult
    package func run(milliseconds: Int64, until isDone: () -> Bool = { false }) -> Bool {
        let end = Self.now() + milliseconds * 1000
        while !isDone() {
            let now = Self.now()
            guard now < end else { return false }
            while let timer = timers.last, timer.at <= Self.now() {
                timers.removeLast()
                timer.body()
            }
            let next = min(end, timers.last?.at ?? end)
            wait(milliseconds: max(0, (next - Self.now() + 999) / 1000))
        }
        return true
    }

    private func wait(milliseconds: Int64) {
        withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: 256) { events in
            let count = epoll_wait(epoll, events.baseAddress, 256, Int32(clamping: milliseconds))
            for event in events.prefix(max(0, Int(count))) {
                connections[event.data.fd]?.isReady()
            }
        }
    }

    /// Told of each change of the socket once: no call is needed to wait for something else.
    func add(_ connection: ClientConnection) -> Bool {
        var event = epoll_event()
        event.events = EPOLLIN.rawValue | EPOLLOUT.rawValue | EPOLLRDHUP.rawValue | EPOLLET.rawValue
        event.data.fd = connection.descriptor
        connections[connection.descriptor] = connection
        return epoll_ctl(epoll, EPOLL_CTL_ADD, connection.descriptor, &event) == 0
    }

    func remove(_ connection: ClientConnection) {
        connections[connection.descriptor] = nil
    }
}

/// Why a run can't go on.
package struct AbuseError: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }

    static func system(_ call: String) -> AbuseError {
        AbuseError("\(call) failed: \(String(cString: strerror(errno)))")
    }
}
