internal import CloudWire
import Foundation
internal import System

/// One run of an operation that outlives its process: the answers that came before, and where those that come are kept.
final class LongLivedRun: Sendable {
    /// What is kept of the operation.
    let header: OperationHeader

    private struct State {
        var log: ReplyLog?
        /// Of a run that only repeats what another one got.
        var replies: [Int: WireResponse] = [:]
        var number = 0
    }

    private let folder: String
    private let lock: FileLock?
    private let clock: any TimeSource
    private let state: Lock<State>

    /// A run of what lies in `folder`, whose answers `lock` holds open.
    init(_ header: OperationHeader, folder: String, lock: FileLock, store: LongLivedOperationStore) {
        self.header = header
        self.folder = folder
        self.lock = lock
        clock = store.clock
        let log = ReplyLog(descriptor: lock.descriptor, bytesMax: LongLivedOperationStore.repliesBytesMax)
        state = Lock(State(log: log))
    }

    /// A run that repeats `replies`, and keeps nothing.
    init(_ header: OperationHeader, replies: [Int: WireResponse], clock: any TimeSource) {
        self.header = header
        folder = ""
        lock = nil
        self.clock = clock
        state = Lock(State(replies: replies))
    }

    deinit {
        // Given up without an end: its followers look for themselves.
        if lock != nil { for follower in RunningOperations.take(folder) { follower(nil) } }
    }

    /// The kept answer to the next request; nil when it has to be asked.
    func nextReply() -> WireResponse? {
        state.withLock { state in
            state.number += 1
            if state.log == nil { return state.replies[state.number] }
            return state.log?.reply(to: state.number)
        }
    }

    /// Keeps the answer to the request that `nextReply` had none for, if it is one that would be the same again.
    func append(_ reply: Result<WireResponse, CKError>) {
        guard case .success(let response) = reply, response.isFinal else { return }
        state.withLock { $0.log?.append(response, to: $0.number) }
        lock?.setTime(clock.nowMilliseconds())
    }

    /// Where the copy of the file at `url` is, if there is one.
    func copy(of url: URL) -> URL? {
        header.files[url.path].map { URL(fileURLWithPath: folder + "/" + $0) }
    }

    /// From here on nobody is told of it: its last blocks are being called.
    func isEnding() {
        RunningOperations.entries.withLock { $0[folder]?.isEnding = true }
    }

    /// It is done: nothing of it stays.
    func end() {
        guard lock != nil else { return }
        LongLivedOperationStore.remove(folder)
        // The file is open still.
        let followers = RunningOperations.take(folder)
        guard !followers.isEmpty else { return }
        let replies = state.withLock { $0.log?.all() ?? [:] }
        for follower in followers { follower(LongLivedRun(header, replies: replies, clock: clock)) }
    }
}

extension WireResponse {
    /// Whether the same request would be answered in the same way: a busy server would do better later.
    fileprivate var isFinal: Bool { (200..<500).contains(status) && ![401, 421, 429].contains(status) }
}

extension FileLock {
    /// Sets the time at which the file was changed: by it the operation is old, and by no other clock than ours.
    func setTime(_ milliseconds: Int64) {
        let time = timespec(
            tv_sec: Int(milliseconds / 1000), tv_nsec: Int(milliseconds % 1000) * 1_000_000)
        _ = [time, time].withUnsafeBufferPointer { futimens(descriptor, $0.baseAddress) }
    }
}

/// The kept operations that this process runs now, by their folders.
enum RunningOperations {
    /// Called with what the operation got when it has ended; with nil when it was given up.
    typealias Follower = @Sendable (LongLivedRun?) -> Void

    struct Entry {
        var isEnding = false
        var followers: [Follower] = []
    }

    static let entries = Lock<[String: Entry]>([:])

    /// Takes the operation out, and gives who waits for it.
    static func take(_ folder: String) -> [Follower] {
        entries.withLock { $0.removeValue(forKey: folder)?.followers ?? [] }
    }
}
