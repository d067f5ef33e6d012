internal import CloudWire
import Foundation
internal import System

/// One run of a long-lived operation: replays the stored responses, and stores new ones.
final class LongLivedRun: Sendable {
    /// The header of the stored form.
    let header: OperationHeader

    private struct State {
        var log: ReplyLog?
        /// The responses of a run that only repeats another one.
        var replies: [Int: WireResponse] = [:]
        var number = 0
    }

    private let folder: String
    private let lock: FileLock?
    private let clock: any TimeSource
    private let state: Lock<State>

    /// A run of the operation in `folder`, with its `replies` locked by `lock`.
    init(_ header: OperationHeader, folder: String, lock: FileLock, store: LongLivedOperationStore) {
        self.header = header
        self.folder = folder
        self.lock = lock
        clock = store.clock
        let log = ReplyLog(
            descriptor: lock.file.descriptor, bytesMax: LongLivedOperationStore.repliesBytesMax)
        state = Lock(State(log: log))
    }

    /// A run that repeats `replies`, and stores nothing.
    init(_ header: OperationHeader, replies: [Int: WireResponse], clock: any TimeSource) {
        self.header = header
        folder = ""
        lock = nil
        self.clock = clock
        state = Lock(State(replies: replies))
    }

    deinit {
        // The run was abandoned. Its followers look at the stored form themselves.
        if lock != nil { for follower in RunningOperations.take(folder) { follower(nil) } }
    }

    /// Returns the stored response to the next request, or nil if it must be sent.
    func nextReply() -> WireResponse? {
        state.withLock { state in
            state.number += 1
            if state.log == nil { return state.replies[state.number] }
            return state.log?.reply(to: state.number)
        }
    }

    /// Stores the response to the request for which `nextReply` had none, if it would be the same again.
    func append(_ reply: Result<WireResponse, CKError>) {
        guard case .success(let response) = reply, response.isFinal else { return }
        state.withLock { $0.log?.append(response, to: $0.number) }
        lock?.setTime(clock.nowMilliseconds())
    }

    /// Returns the URL of the stored copy of the file at `url`, or nil if there is none.
    func copy(of url: URL) -> URL? {
        header.files[url.path].map { URL(fileURLWithPath: folder + "/" + $0) }
    }

    /// Hides the operation: its last blocks are being called.
    func isEnding() {
        RunningOperations.entries.withLock { $0[folder]?.isEnding = true }
    }

    /// Removes the finished operation.
    func end() {
        guard lock != nil else { return }
        LongLivedOperationStore.remove(folder)
        // The file is still open.
        let followers = RunningOperations.take(folder)
        guard !followers.isEmpty else { return }
        let replies = state.withLock { $0.log?.all() ?? [:] }
        for follower in followers { follower(LongLivedRun(header, replies: replies, clock: clock)) }
    }
}

extension WireResponse {
    /// True if the same request would get the same response. An error of a busy server isn't final.
    fileprivate var isFinal: Bool { (200..<500).contains(status) && ![401, 421, 429].contains(status) }
}

extension FileLock {
    /// Sets the file's modification time, so that the operation's age follows our clock only.
    func setTime(_ milliseconds: Int64) {
        let time = timespec(
            tv_sec: Int(milliseconds / 1000), tv_nsec: Int(milliseconds % 1000) * 1_000_000)
        _ = [time, time].withUnsafeBufferPointer { futimens(file.descriptor, $0.baseAddress) }
    }
}

/// The long-lived operations that this process is running, by folder.
enum RunningOperations {
    /// Called with the responses when the operation has finished; with nil if it was abandoned.
    typealias Follower = @Sendable (LongLivedRun?) -> Void

    struct Entry {
        var isEnding = false
        var followers: [Follower] = []
    }

    static let entries = Lock<[String: Entry]>([:])

    /// Removes the operation, and returns its followers.
    static func take(_ folder: String) -> [Follower] {
        entries.withLock { $0.removeValue(forKey: folder)?.followers ?? [] }
    }
}
