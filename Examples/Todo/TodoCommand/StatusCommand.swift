import Foundation
import TodoKit
import YapCloudKit

/// `todo status`: nothing that waits is silent.
struct StatusCommand {
    private struct StatusJSON: Encodable {
        let device: String
        let items: Int
        let pending: Int
        let inFlight: Bool
        let status: String
        let syncing: Int32?
        let lastError: String?
        let lastErrorAt: Int64?
        let lastWorkedAt: Int64?
        let token: String?
    }

    let call: TodoCall
    let folder: DeviceFolder

    func run() async throws -> Int32 {
        let list = try await folder.open(.records)
        let items = try await list.todos().count
        let pending = try await list.pendingChangesCount()
        let token = try await list.changeToken()
        try list.close()
        let entry = SyncJournal.read(folder)
        let isRunning = entry.process > 0 && kill(entry.process, 0) == 0
        if call.isJSON {
            try Output.json(
                StatusJSON(
                    device: folder.name, items: items, pending: pending,
                    inFlight: isRunning && entry.inFlight,
                    status: entry.status, syncing: isRunning ? entry.process : nil,
                    lastError: entry.lastError,
                    lastErrorAt: entry.lastErrorAt, lastWorkedAt: entry.lastWorkedAt, token: token))
            return 0
        }
        let inFlight = isRunning && entry.inFlight
        let rows = [
            ("device", "\(folder.name), \(folder.url.path)"),
            ("items", "\(items)"),
            (
                "pending",
                pending == 0
                    ? "nothing waits to be sent"
                    : pending == 1 ? "1 change waits to be sent" : "\(pending) changes wait to be sent"
            ),
            ("in flight", inFlight ? "a request is under way" : "nothing"),
            (
                "sync",
                isRunning
                    ? "process \(entry.process): \(entry.status)" : "no process syncs; last: \(entry.status)"
            ),
            ("last worked", entry.lastWorkedAt.map(Clock.text) ?? "never"),
            ("last error", entry.lastError.map { "\(Clock.text(entry.lastErrorAt ?? 0))  \($0)" } ?? "none"),
            (
                "token",
                token.map { $0.count > 24 ? "\($0.prefix(24))..." : $0 } ?? "none: nothing was fetched yet"
            ),
        ]
        for (name, text) in rows {
            Output.line(name + String(repeating: " ", count: 13 - name.count) + text)
        }
        return 0
    }
}
