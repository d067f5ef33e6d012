import Dispatch
import System

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Notifies the processes that have one file open of each other's commits, through a small file beside it.
///
/// A process that observes commits creates the file and lets the kernel report writes to it. After each commit, a
/// process writes the commit's mark into the file if it exists, with one system call. The database's own files can't
/// be watched for this, because SQLite writes them before a commit is visible.
final class ProcessSignal: Sendable {
    private struct State {
        var file: Int32 = -1
        var source: (any DispatchSourceRead)?
        var isEnded = false
    }

    private let path: String?
    private let state = Lock(State())

    /// - Parameter path: Path of the small file. Nil signals nothing.
    init(path: String?) {
        self.path = path
    }

    deinit { end() }

    /// Notifies the other processes of a commit that they can already read.
    func post(_ mark: SnapshotMark) {
        guard let path else { return }
        state.withLock { state in
            if state.isEnded { return }
            // If the file doesn't exist, no process is watching.
            if state.file < 0 { state.file = open(path, O_RDWR | O_CLOEXEC) }
            guard state.file >= 0 else { return }
            _ = mark.bytes.withUnsafeBytes { pwrite(state.file, $0.baseAddress, $0.count, 0) }
        }
    }

    /// Calls `observer` with the mark of the newest posted commit, of this process too, on a queue of its own. Runs
    /// until `end()`. If the system has no watches left, nothing is called.
    ///
    /// - Returns: True if a watch started.
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
