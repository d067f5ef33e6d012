import Dispatch
import System

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Notifies the processes that have one file open of each other's commits, by a small file beside it.
///
/// A process that observes commits creates the file and lets the kernel report writes to it. Each process writes the
/// mark of its newest commit into it, if it exists: one system call after a COMMIT. The database's own files don't
/// serve: SQLite writes them before a commit can be seen.
final class ProcessSignal: Sendable {
    private struct State {
        var file: Int32 = -1
        var source: (any DispatchSourceRead)?
        var isEnded = false
    }

    private let path: String?
    private let state = Lock(State())

    /// - Parameter path: The file; nil signals nothing.
    init(path: String?) {
        self.path = path
    }

    deinit { end() }

    /// Notifies the other processes of a commit, which they can see already.
    func post(_ mark: SnapshotMark) {
        guard let path else { return }
        state.withLock { state in
            if state.isEnded { return }
            // Without the file nobody watches.
            if state.file < 0 { state.file = open(path, O_RDWR | O_CLOEXEC) }
            guard state.file >= 0 else { return }
            _ = mark.bytes.withUnsafeBytes { pwrite(state.file, $0.baseAddress, $0.count, 0) }
        }
    }

    /// Calls `observer` with the mark of the newest posted commit, also of this process, on a queue of its own. Once
    /// begun it goes on until `end()`; where the system has no watch to give, nothing is called.
    ///
    /// - Returns: Whether a watch began.
    @discardableResult
    func watch(_ observer: @escaping @Sendable (SnapshotMark) -> Void) -> Bool {
        guard let path else { return false }
        let source = state.withLock { state -> (any DispatchSourceRead)? in
            guard !state.isEnded, state.source == nil else { return nil }
            if state.file < 0 { state.file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600) }
            guard state.file >= 0 else { return nil }
            state.source = makeSource(path, observer)
            return state.source
        }
        source?.activate()
        return source != nil
    }

    /// Ends the watch, and closes the file.
    func end() {
        let (source, file) = state.withLock { state in
            defer { state = State(isEnded: true) }
            return (state.source, state.file)
        }
        source?.cancel()
        if file >= 0 { _ = close(file) }
    }

    private func newestMark() -> SnapshotMark? {
        state.withLock { state in
            guard state.file >= 0 else { return nil }
            return withUnsafeTemporaryAllocation(byteCount: SnapshotMark.byteCount, alignment: 8) { bytes in
                guard pread(state.file, bytes.baseAddress, bytes.count, 0) == bytes.count else { return nil }
                return SnapshotMark(UnsafeRawBufferPointer(bytes))
            }
        }
    }

    #if canImport(Glibc)
        private func makeSource(_ path: String, _ observer: @escaping @Sendable (SnapshotMark) -> Void)
            -> (any DispatchSourceRead)?
        {
            let inotify = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
            guard inotify >= 0 else { return nil }
            guard inotify_add_watch(inotify, path, UInt32(IN_MODIFY)) >= 0 else {
                _ = close(inotify)
                return nil
            }
            let source = DispatchSource.makeReadSource(
                fileDescriptor: inotify, queue: DispatchQueue(label: "Yap.processSignal"))
            source.setEventHandler { [weak self] in
                Self.drain(inotify)
                if let mark = self?.newestMark() { observer(mark) }
            }
            source.setCancelHandler { _ = close(inotify) }
            return source
        }

        private static func drain(_ inotify: Int32) {
            withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { events in
                while read(inotify, events.baseAddress, events.count) > 0 {}
            }
        }
    #else
        private func makeSource(_ path: String, _ observer: @escaping @Sendable (SnapshotMark) -> Void)
            -> (any DispatchSourceRead)?
        {
            nil
        }
    #endif
}
