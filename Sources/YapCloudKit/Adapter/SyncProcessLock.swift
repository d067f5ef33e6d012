import Dispatch
internal import System

#if canImport(Glibc)
    import Glibc
#endif

/// A lock between processes: of all processes that have a database open, the one that holds it syncs the database.
///
/// It is an `flock` of a file beside the database. The file also carries notifications: each process writes the number
/// of its newest commit into it, and the kernel notifies the others of the write, and of the end of a process.
package final class SyncProcessLock: Sendable {
    /// Handlers that are called on the lock's own queue.
    struct Listener: Sendable {
        /// Called when this process has acquired the lock after it had to wait for it.
        let acquired: @Sendable () -> Void
        /// Called after another process committed, with the number of the commit; nil if it isn't known.
        let committed: @Sendable (UInt64?) -> Void
    }

    private struct State {
        /// Number of the newest start that acquired or released it.
        var start = 0
        var file: OpenFile?
        var source: (any DispatchSourceRead)?
        var timer: (any DispatchSourceTimer)?
        var isHeld = false
    }

    /// Seconds between two attempts to acquire a lock that another process holds. The kernel notifies us of the end of
    /// that process, but before it releases the lock, and not at all if no watch is available.
    static let retrySeconds = 2

    private let acquires: Bool
    /// From `acquire` to `release`, or to the end of this object.
    private let state = Lock(State())

    /// - Parameter acquires: False for a process that only records changes and leaves the sync to others.
    package init(acquires: Bool) {
        self.acquires = acquires
    }

    deinit {
        release(start: .max)
    }

    /// Returns the path of the lock's file. The registered name is part of it, because each extension of a database
    /// syncs separately.
    ///
    /// - Parameter suffix: Distinguishes it from other files of the extension.
    package static func path(database: String, registeredName: String, suffix: String = "sync") -> String {
        let name = registeredName.utf8.map { byte in
            let isPlain = byte == 0x2D || byte == 0x5F || Character(Unicode.Scalar(byte)).isASCIILetterOrDigit
            return isPlain ? String(Unicode.Scalar(byte)) : "%" + String(byte, radix: 16)
        }
        return "\(database)-\(name.joined()).\(suffix)"
    }

    /// Tries to acquire the lock for a start, without waiting for it. Releases the lock of the start before.
    /// - Returns: Whether it was acquired. Otherwise the listener is called when it is, unless a newer start has
    ///   acquired another lock, or the start has released it already.
    /// - Throws: `FileError` if the file can't be opened.
    func acquire(path: String, start: Int, listener: Listener) throws(FileError) -> Bool {
        let file = try OpenFile(path, .updatingOrCreating)
        // Watched before the attempt, so that the end of the holder in between is noticed.
        let queue = DispatchQueue(label: "YapCloudKit.processLock")
        let source = acquires ? watch(path, queue, start, listener) : nil
        let isHeld = acquires && Self.locks(file)
        let timer = acquires && !isHeld ? retries(queue, start, listener) : nil
        let made = State(start: start, file: file, source: source, timer: timer, isHeld: isHeld)
        // The state that isn't used is closed after the lock.
        let (unused, isUsed) = state.withLock { state -> (State, Bool) in
            guard start > state.start else { return (made, false) }
            defer { state = made }
            return (state, true)
        }
        close(unused)
        // Even if they were cancelled: a source must not be released before.
        source?.activate()
        timer?.activate()
        return isHeld && isUsed
    }

    /// Whether this process holds the lock of a start.
    func isHeld(start: Int) -> Bool { state.withLock { $0.isHeld && $0.start == start } }

    private func retries(
        _ queue: DispatchQueue, _ start: Int, _ listener: Listener
    ) -> any DispatchSourceTimer {
        let timer = DispatchSource.makeTimerSource(queue: queue)
        let interval = DispatchTimeInterval.seconds(Self.retrySeconds)
        timer.schedule(deadline: .now() + interval, repeating: interval, leeway: .milliseconds(200))
        timer.setEventHandler { [weak self] in
            if self?.acquiresNow(start: start) == true { listener.acquired() }
        }
        return timer
    }

    /// Notifies the other processes of a commit. Called while the database's writer is held.
    func notify(snapshot: UInt64) {
        guard let file = state.withLock({ $0.file }) else { return }
        withUnsafeBytes(of: snapshot.littleEndian) { try? file.write($0, at: 0) }
    }

    /// Releases the lock of a start, which notifies the other processes. The lock of a newer start stays held.
    func release(start: Int) {
        let released = state.withLock { state -> State? in
            guard start >= state.start else { return nil }
            defer { state = State(start: start) }
            return state
        }
        if let released { close(released) }
    }

    /// Ends the watching of a state whose file is closed with it.
    private func close(_ state: State) {
        state.source?.cancel()
        state.timer?.cancel()
    }

    /// Tries to lock the file. A file system without locks counts as locked by another process.
    private static func locks(_ file: OpenFile) -> Bool {
        (try? file.lock(waits: false)) ?? false
    }

    /// Returns the number of the newest commit that a process wrote into the file.
    private func lastCommit() -> UInt64? {
        let size = MemoryLayout<UInt64>.size
        guard let file = state.withLock({ $0.file }), let bytes = try? file.read(at: 0, bytesMax: size),
            bytes.count == size
        else { return nil }
        return bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Tries again to acquire the lock of a start.
    /// - Returns: Whether this attempt acquired it.
    private func acquiresNow(start: Int) -> Bool {
        let (isAcquired, timer) = state.withLock { state -> (Bool, (any DispatchSourceTimer)?) in
            guard state.start == start, let file = state.file, !state.isHeld, Self.locks(file) else {
                return (false, nil)
            }
            state.isHeld = true
            defer { state.timer = nil }
            return (true, state.timer)
        }
        timer?.cancel()
        return isAcquired
    }

    #if canImport(Glibc)
        /// Calls the listener when the kernel reports a change of the file.
        private func watch(
            _ path: String, _ queue: DispatchQueue, _ start: Int, _ listener: Listener
        ) -> (any DispatchSourceRead)? {
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
                if isClosed, acquiresNow(start: start) { listener.acquired() }
                // A process that ended may have committed without a notification.
                listener.committed(isClosed ? nil : lastCommit())
            }
            source.setCancelHandler { _ = Glibc.close(inotify) }
            return source
        }

        /// Reads all pending events.
        /// - Returns: Whether a process closed the file.
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
        private func watch(
            _ path: String, _ queue: DispatchQueue, _ start: Int, _ listener: Listener
        ) -> (any DispatchSourceRead)? { nil }
    #endif
}

extension Character {
    fileprivate var isASCIILetterOrDigit: Bool { isASCII && (isLetter || isNumber) }
}
