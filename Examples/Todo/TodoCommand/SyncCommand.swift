import CloudKit
@preconcurrency import Dispatch
import Foundation
import System
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
        try await list.close()
        let isDone = status.state == .idle || (status.isOtherProcess && pending == 0)
        if call.isJSON {
            try Output.json(SyncedJSON(status: status.line, items: items, pending: pending, isDone: isDone))
        } else {
            Output.line(words(status, isDone: isDone, items: items, pending: pending))
        }
        return isDone ? 0 : 1
    }

    private func words(_ status: CloudSyncStatus, isDone: Bool, items: Int, pending: Int) -> String {
        guard isDone else {
            // A status that waits has the number in it.
            return status.state == .waiting ? status.line : "\(pending) waiting to be sent: \(status.line)"
        }
        // The other process fetches when it is told of a change, not when this one asks.
        return status.state == .idle
            ? "\(items) items, all synced"
            : "\(items) items, nothing waits: another process syncs this device"
    }

    /// Follows the sync until it is done, needs somebody, or made no progress for too long.
    private func follow(_ list: TodoList, _ journal: SyncJournal, patienceSeconds: Int) async
        -> CloudSyncStatus
    {
        let first = await list.sync.syncNow()
        journal.note(first, worked: first.state == .idle)
        if first.state == .idle || first.needsSomebody { return first }
        let patience = Patience(seconds: patienceSeconds)
        let changes = patience.merged(list.sync.status, list.database.commits)
        var last = first
        for await status in changes {
            // A commit may have emptied the queue of a process that syncs for us.
            last = status ?? list.sync.currentStatus
            if last.state == .syncing || status == nil { patience.renew() }
            journal.note(last, worked: last.state == .idle)
            if last.state == .idle || last.needsSomebody { break }
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
        state == .needsAttention || state == .waiting && pause == .suspended
    }

    var isOtherProcess: Bool { state == .waiting && pause == .otherProcess }
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
