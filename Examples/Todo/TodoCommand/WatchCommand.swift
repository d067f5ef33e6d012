import CloudKit
import Dispatch
import Foundation
import System
import TodoKit
import Yap
import YapCloudKit

/// `todo watch`: syncs until it is told to end, and shows what changes.
struct WatchCommand {
    private enum Event: Sendable {
        case commit(YapDatabaseCommit)
        case status(CloudSyncStatus)
        case error(CKError)
        case conflict(TodoConflict)
        case signal
    }

    private struct EventJSON: Encodable {
        var event: String
        var source: String?
        var key: String?
        var line: String?
        var status: String?
        var items: Int?
    }

    let call: TodoCall
    let folder: DeviceFolder

    func run() async throws -> Int32 {
        let signals = Signals()
        let list = try await folder.open(.syncs)
        let journal = SyncJournal(folder)
        let events = events(list, signals)
        var todos = try await list.todos()
        try tell(
            EventJSON(event: "watching", items: todos.count), "watching \(todos.count) items; Ctrl-C ends it")
        list.sync.fetch()
        var last: CloudSyncStatus?
        loop: for await event in events {
            switch event {
            case .commit(let commit):
                let new = try await list.todos()
                try show(from: todos, to: new, commit)
                todos = new
            case .status(let status) where last == nil && status.state == .idle:
                // Before anything was asked for, this says nothing.
                break
            case .status(let status):
                journal.note(status, worked: status.state == .idle)
                // The count of a queue that is being sent changes faster than anybody reads.
                if !(status.state == .syncing && last?.state == .syncing) {
                    try tell(EventJSON(event: "status", status: status.line), "-- \(status.line)")
                }
                last = status
            case .error(let error):
                journal.note(error)
                try tell(
                    EventJSON(event: "error", status: "\(error.code)"), "-- \(error.localizedDescription)")
            case .conflict(let conflict) where call.isJSON: try Output.json(DecisionJSON(conflict))
            case .conflict(let conflict):
                let short = ShortKeys(todos.keys).short(conflict.key)
                Output.line("\(Clock.time(Clock.now()))  merge  ! \(short)  \(conflict.sentence())")
            case .signal: break loop
            }
        }
        try await list.close()
        journal.end()
        try tell(EventJSON(event: "ended"), "ended")
        return 0
    }

    private func events(_ list: TodoList, _ signals: Signals) -> AsyncStream<Event> {
        let (stream, continuation) = AsyncStream.makeStream(of: Event.self)
        signals.handle { continuation.yield(.signal) }
        let (statuses, errors, commits) = (list.sync.status, list.sync.errors, list.database.commits)
        Task { for await status in statuses { continuation.yield(.status(status)) } }
        Task { for await error in errors { continuation.yield(.error(error)) } }
        Task { for await commit in commits { continuation.yield(.commit(commit)) } }
        let log = list.sync.mergeLog
        Task { for await entry in log { continuation.yield(.conflict(TodoConflict(entry))) } }
        return stream
    }

    private func show(from old: [String: Todo], to new: [String: Todo], _ commit: YapDatabaseCommit) throws {
        // This process writes only what it fetched.
        let isHere = commit.isExternal
        let short = ShortKeys(Set(old.keys).union(new.keys))
        let keys = Set(old.keys).union(new.keys).filter { old[$0] != new[$0] }
        for key in keys.sorted(by: { (order($0, old, new), $0) < (order($1, old, new), $1) }) {
            let (event, sign) =
                old[key] == nil ? ("added", "+") : new[key] == nil ? ("deleted", "-") : ("changed", "~")
            let line = (new[key] ?? old[key])?.line ?? ""
            try tell(
                EventJSON(event: event, source: isHere ? "device" : "cloud", key: key, line: line),
                "\(isHere ? "here " : "cloud")  \(sign) \(short.short(key))  \(line)")
        }
    }

    private func order(_ key: String, _ old: [String: Todo], _ new: [String: Todo]) -> Int {
        (new[key] ?? old[key])?.order ?? 0
    }

    private func tell(_ json: EventJSON, _ text: String) throws {
        if call.isJSON { try Output.json(json) } else { Output.line("\(Clock.time(Clock.now()))  \(text)") }
    }
}

/// The signals by which a person or a system asks a process to end.
final class Signals: Sendable {
    private let handler = Lock<(@Sendable () -> Void)?>(nil)
    private let sources = Lock<[any DispatchSourceSignal]>([])

    /// From here on they no longer end the process at once.
    init() {
        for number in [SIGINT, SIGTERM, SIGHUP] {
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { [weak self] in self?.handler.withLock { $0 }?() }
            source.activate()
            sources.withLock { $0.append(source) }
        }
    }

    func handle(_ body: @escaping @Sendable () -> Void) {
        handler.withLock { $0 = body }
    }
}
