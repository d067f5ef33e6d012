import Dispatch
internal import System

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Which of several processes that have one database open syncs it: the one that holds a lock on a file beside it.
///
/// The same file is the bell by which they hear of one another's commits: each writes the number of its newest commit
/// into it, and the kernel tells the others, also of the end of a process, however it ended.
package final class SyncTurn: Sendable {
    /// Whom it tells, on a queue of its own.
    struct Listener: Sendable {
        /// The lock is ours from now on.
        let isOurs: @Sendable () -> Void
        /// Somebody committed; nil when the number of the commit is not known.
        let rang: @Sendable (UInt64?) -> Void
    }

    struct Failure: Error {
        let message: String
    }

    private struct State {
        var file: Int32 = -1
        var source: (any DispatchSourceRead)?
        var timer: (any DispatchSourceTimer)?
        var isOurs = false
    }

    /// Seconds between two tries for a lock that another process has. The kernel tells of its end, but it does so
    /// before it lets the lock go, and where it has no watch left to give it tells nothing.
    static let retrySeconds = 2

    private let takesTurns: Bool
    private let state = Lock(State())

    /// - Parameter takesTurns: False for a process that only records changes and leaves the sync to others.
    package init(takesTurns: Bool) {
        self.takesTurns = takesTurns
    }

    deinit {
        end()
    }

    /// The lock's file. The name is part of it, because each extension in a database syncs for itself.
    ///
    /// - Parameter suffix: Tells it from other files that belong to the extension.
    package static func path(database: String, registeredName: String, suffix: String = "sync") -> String {
        let name = registeredName.utf8.map { byte in
            let isPlain = byte == 0x2D || byte == 0x5F || Character(Unicode.Scalar(byte)).isASCIILetterOrDigit
            return isPlain ? String(Unicode.Scalar(byte)) : "%" + String(byte, radix: 16)
        }
        return "\(database)-\(name.joined()).\(suffix)"
    }

    /// Asks for the lock, without waiting for it.
    /// - Returns: Whether it is ours. If not, the listener hears when it is.
    func begin(path: String, listener: Listener) throws -> Bool {
        let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Failure(message: "can't open \(path): error \(errno)") }
        // Watched before it is asked for: an end that comes in between is seen.
        let queue = DispatchQueue(label: "YapCloudKit.turn")
        let source = takesTurns ? watch(path, queue, listener) : nil
        let isOurs = takesTurns && flock(file, LOCK_EX | LOCK_NB) == 0
        let timer = takesTurns && !isOurs ? retries(queue, listener) : nil
        let before = state.withLock { state in
            defer { state = State(file: file, source: source, timer: timer, isOurs: isOurs) }
            return state
        }
        close(before)
        source?.activate()
        timer?.activate()
        return isOurs
    }

    /// Whether the lock is ours.
    var isOurs: Bool { state.withLock { $0.isOurs } }

    private func retries(_ queue: DispatchQueue, _ listener: Listener) -> any DispatchSourceTimer {
        let timer = DispatchSource.makeTimerSource(queue: queue)
        let interval = DispatchTimeInterval.seconds(Self.retrySeconds)
        timer.schedule(deadline: .now() + interval, repeating: interval, leeway: .milliseconds(200))
        timer.setEventHandler { [weak self] in
            if self?.isOursNow() == true { listener.isOurs() }
        }
        return timer
    }

    /// Lets the others know of a commit. Called while the database's writer is held.
    func ring(snapshot: UInt64) {
        state.withLock { state in
            guard state.file >= 0 else { return }
            withUnsafeBytes(of: snapshot.littleEndian) { _ = pwrite(state.file, $0.baseAddress, $0.count, 0) }
        }
    }

    /// Lets the lock go. Others hear of that.
    func end() {
        close(
            state.withLock { state in
                defer { state = State() }
                return state
            })
    }

    private func close(_ state: State) {
        state.source?.cancel()
        state.timer?.cancel()
        #if canImport(Glibc)
            if state.file >= 0 { _ = Glibc.close(state.file) }
        #else
            if state.file >= 0 { _ = Darwin.close(state.file) }
        #endif
    }

    /// What the last bell said.
    private func lastRing() -> UInt64? {
        state.withLock { state in
            var number: UInt64 = 0
            let count = withUnsafeMutableBytes(of: &number) { pread(state.file, $0.baseAddress, $0.count, 0) }
            return count == 8 ? UInt64(littleEndian: number) : nil
        }
    }

    /// Tries again for the lock. Returns whether it became ours just now.
    private func isOursNow() -> Bool {
        let (becameOurs, timer) = state.withLock { state -> (Bool, (any DispatchSourceTimer)?) in
            guard state.file >= 0, !state.isOurs, flock(state.file, LOCK_EX | LOCK_NB) == 0 else {
                return (false, nil)
            }
            state.isOurs = true
            defer { state.timer = nil }
            return (true, state.timer)
        }
        timer?.cancel()
        return becameOurs
    }

    #if canImport(Glibc)
        /// Reads what the kernel tells of the file, when there is something.
        private func watch(_ path: String, _ queue: DispatchQueue, _ listener: Listener)
            -> (any DispatchSourceRead)?
        {
            let inotify = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
            guard inotify >= 0 else { return nil }
            guard inotify_add_watch(inotify, path, UInt32(IN_MODIFY | IN_CLOSE_WRITE)) >= 0 else {
                _ = Glibc.close(inotify)
                return nil
            }
            let source = DispatchSource.makeReadSource(fileDescriptor: inotify, queue: queue)
            source.setEventHandler { [weak self] in
                let isClosed = Self.drain(inotify)
                guard let self else { return }
                if isClosed, isOursNow() { listener.isOurs() }
                // Of a process that ended without ringing it is not known what it committed.
                listener.rang(isClosed ? nil : lastRing())
            }
            source.setCancelHandler { _ = Glibc.close(inotify) }
            return source
        }

        /// Takes all that is there. Returns whether somebody closed the file.
        private static func drain(_ inotify: Int32) -> Bool {
            var isClosed = false
            // A watch on one file has no names in its events, so all of them have one size.
            let size = MemoryLayout<inotify_event>.stride
            withUnsafeTemporaryAllocation(of: inotify_event.self, capacity: 64) { events in
                while true {
                    let count = read(inotify, events.baseAddress, events.count * size)
                    guard count > 0 else { return }
                    for event in events.prefix(count / size) {
                        let isLost = event.mask & UInt32(IN_Q_OVERFLOW) != 0
                        if isLost || event.mask & UInt32(IN_CLOSE_WRITE) != 0 { isClosed = true }
                    }
                }
            }
            return isClosed
        }
    #else
        private func watch(_ path: String, _ queue: DispatchQueue, _ listener: Listener)
            -> (any DispatchSourceRead)?
        { nil }
    #endif
}

extension Character {
    fileprivate var isASCIILetterOrDigit: Bool { isASCII && (isLetter || isNumber) }
}
