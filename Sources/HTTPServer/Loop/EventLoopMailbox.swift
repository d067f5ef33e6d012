import CLinux
import Glibc
import System

/// The mailbox of an event loop: other threads post messages to it.
///
/// A message costs no system call while the loop is awake: the loop reads its mailbox before it sleeps.
final class EventLoopMailbox: Sendable {
    private struct Box {
        var messages = [EventLoopMessage]()
        var isAsleep = false
        var isClosed = false
    }

    /// Wakes the loop's epoll.
    let wakeDescriptor: Int32
    private let box = Lock(Box())

    /// - Throws: `HTTPServerError` when the system has no descriptor left.
    init() throws {
        wakeDescriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        guard wakeDescriptor >= 0 else { throw HTTPServerError.system("eventfd", errno) }
    }

    /// Posts a message to the loop. If the loop has ended, the message's callbacks are called at once.
    func post(_ message: EventLoopMessage) {
        let isClosed = box.withLock { box in
            if box.isClosed { return true }
            box.messages.append(message)
            // With the lock held, because the descriptor may otherwise be closed and its number reused.
            if box.isAsleep { eventfd_write(wakeDescriptor, 1) }
            box.isAsleep = false
            return false
        }
        if isClosed { message.tellThatTheLoopEnded() }
    }

    /// Swaps the posted messages for an empty array.
    func take(_ messages: inout [EventLoopMessage]) {
        box.withLock { swap(&$0.messages, &messages) }
    }

    /// Returns true if the loop may sleep, because there is no message. Then the next message wakes it.
    func fallAsleep() -> Bool {
        box.withLock { box in
            box.isAsleep = box.messages.isEmpty
            return box.isAsleep
        }
    }

    /// Marks the loop as awake.
    func wakeUp() {
        box.withLock { $0.isAsleep = false }
    }

    /// Closes the mailbox and its descriptor, and calls the callbacks of the remaining messages.
    func close() {
        let messages = box.withLock { box in
            if !box.isClosed { Glibc.close(wakeDescriptor) }
            box.isClosed = true
            defer { box.messages = [] }
            return box.messages
        }
        for message in messages { message.tellThatTheLoopEnded() }
    }
}

extension EventLoopMessage {
    /// Calls the callbacks of a message that won't be read.
    func tellThatTheLoopEnded() {
        switch self {
        case .answer(_, let answer): answer.written?(false)
        case .onDisconnect(_, let body): body()
        default: break
        }
    }
}

extension HTTPServerError {
    /// Returns the error of a failed system call.
    static func system(_ call: String, _ number: Int32) -> HTTPServerError {
        HTTPServerError(code: .system, message: "\(call) failed: \(String(cString: strerror(number)))")
    }
}
