import CloudKit
@preconcurrency import Dispatch
import Foundation
import Seams
import TodoKit
import Yap
import YapCloudKit

/// `todo sync`: until nothing is left to do.
struct SyncCommand {
    static let patienceSeconds = 20

    let call: TodoCall
    let folder: DeviceFolder
    let failpoint: Failpoint?

    func run() async throws -> Int32 {
        let patience = try call.value("patience").map { text in
            guard let seconds = Int(text), (1...86_400).contains(seconds) else {
                throw TodoFailure.usage("--patience takes seconds, not \"\(text)\"")
            }
            return seconds
        }
        let list = try await folder.open(.syncs)
        if let failpoint {
            try await list.database.register(failpoint, withName: "failpoint")
            failpoint.arm()
        }
        let journal = SyncJournal(folder)
        let teller = Task { await tellDecisions(list) }
        let noter = Task { for await error in list.sync.errors { journal.note(error) } }
        let status = await follow(list, journal, patienceSeconds: patience ?? Self.patienceSeconds)
        teller.cancel()
        noter.cancel()
        await teller.value
        journal.end()
        let items = try await list.todos().count
        let pending = try await list.pendingChangesCount()
        try list.close()
        let isDone = status == .idle || (status.isOtherProcess && pending == 0)
        if call.isJSON {
            try Output.json(SyncedJSON(status: status.words, items: items, pending: pending, isDone: isDone))
        } else {
            Output.line(words(status, isDone: isDone, items: items, pending: pending))
        }
        return isDone ? 0 : 1
    }

    private func words(_ status: CloudSyncStatus, isDone: Bool, items: Int, pending: Int) -> String {
        guard isDone else { return "\(pending) waiting to be sent: \(status.words)" }
        // The other process fetches when it is told of a change, not when this one asks.
        return status == .idle
            ? "\(items) items, all synced" : "\(items) items, nothing waits: \(status.words)"
    }

    /// Follows the sync until it is done, needs somebody, or made no progress for too long.
    private func follow(_ list: TodoList, _ journal: SyncJournal, patienceSeconds: Int) async
        -> CloudSyncStatus
    {
        let first = await list.sync.syncNow()
        journal.note(first, worked: first == .idle)
        if first == .idle || first.needsSomebody { return first }
        let patience = Patience(seconds: patienceSeconds)
        let changes = patience.merged(list.sync.status, list.database.commits)
        var last = first
        for await status in changes {
            // A commit may have emptied the queue of a process that syncs for us.
            last = status ?? list.sync.currentStatus
            if last.isSyncing || status == nil { patience.renew() }
            journal.note(last, worked: last == .idle)
            if last == .idle || last.needsSomebody { break }
            if last.isOtherProcess, (try? await list.pendingChangesCount()) == 0 { break }
        }
        return last
    }

    private func tellDecisions(_ list: TodoList) async {
        let short = (try? await list.todos()).map { ShortKeys($0.keys) } ?? ShortKeys([])
        for await entry in list.sync.mergeLog {
            let conflict = TodoConflict(entry)
            if call.isJSON {
                try? Output.json(DecisionJSON(conflict))
            } else {
                Output.line("merge  \(short.short(conflict.key))  \(conflict.sentence())")
            }
        }
    }
}

/// Ends a wait when nothing moves for too long.
final class Patience: Sendable {
    private struct State {
        var timer: (any DispatchSourceTimer)?
        var end: (@Sendable () -> Void)?
    }

    private let seconds: Int
    private let state = Lock(State())

    init(seconds: Int) {
        self.seconds = seconds
    }

    /// Begins anew to count.
    func renew() {
        state.withLock { $0.timer?.schedule(deadline: .now() + .seconds(seconds)) }
    }

    /// The statuses, and nil for each commit, until nothing moved for too long.
    func merged(
        _ statuses: AsyncStream<CloudSyncStatus>,
        _ commits: YapDatabaseCommits
    ) -> AsyncStream<CloudSyncStatus?> {
        let (stream, continuation) = AsyncStream.makeStream(of: CloudSyncStatus?.self)
        let timer = DispatchSource.makeTimerSource()
        timer.setEventHandler { continuation.finish() }
        state.withLock { $0.timer = timer }
        timer.schedule(deadline: .now() + .seconds(seconds))
        timer.activate()
        let tasks = [
            Task { for await status in statuses { continuation.yield(status) } },
            Task { for await _ in commits { continuation.yield(nil) } },
        ]
        continuation.onTermination = { _ in
            for task in tasks { task.cancel() }
            timer.cancel()
        }
        return stream
    }
}

extension CloudSyncStatus {
    /// Whether it goes on only when a person or the program does something.
    var needsSomebody: Bool {
        switch self {
        case .needsAttention, .waiting(_, .suspended): true
        default: false
        }
    }

    var isOtherProcess: Bool {
        if case .waiting(_, .otherProcess) = self { true } else { false }
    }
}

private struct SyncedJSON: Encodable {
    var event = "synced"
    let status: String
    let items: Int
    let pending: Int
    let isDone: Bool
}

/// What a merge decided, as a line of JSON.
struct DecisionJSON: Encodable {
    var event = "merge"
    let key: String
    let rule: String
    let field: String?
    let dropped: String?
    let kept: String?
    let sentence: String

    init(_ conflict: TodoConflict) {
        key = conflict.key
        rule = conflict.rule
        field = conflict.field
        dropped = conflict.dropped
        kept = conflict.kept
        sentence = conflict.sentence()
    }
}
