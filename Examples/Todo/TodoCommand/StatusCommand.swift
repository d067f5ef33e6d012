import Foundation
import TodoKit
import YapCloudKit

/// `todo status`: reports all pending work.
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
        try await list.close()
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
        let rows: [(String, String)] = [
            ("device", "\(folder.name), \(folder.url.path)"),
            ("items", "\(items)"),
            ("pending", Self.pendingText(pending)),
            ("in flight", inFlight ? "a request is under way" : "nothing"),
            ("sync", Self.syncText(entry, isRunning: isRunning)),
            ("last worked", entry.lastWorkedAt.map(Clock.text) ?? "never"),
            ("last error", Self.errorText(entry)),
            ("token", Self.tokenText(token)),
        ]
        for (name, text) in rows {
            Output.line(name + String(repeating: " ", count: 13 - name.count) + text)
        }
        return 0
    }

    private static func pendingText(_ count: Int) -> String {
        switch count {
        case 0: "nothing waits to be sent"
        case 1: "1 change waits to be sent"
        default: "\(count) changes wait to be sent"
        }
    }

    private static func syncText(_ entry: SyncJournal.Entry, isRunning: Bool) -> String {
        isRunning ? "process \(entry.process): \(entry.status)" : "no process syncs; last: \(entry.status)"
    }

    private static func errorText(_ entry: SyncJournal.Entry) -> String {
        guard let error = entry.lastError else { return "none" }
        return "\(Clock.text(entry.lastErrorAt ?? 0))  \(error)"
    }

    private static func tokenText(_ token: String?) -> String {
        guard let token else { return "none: nothing was fetched yet" }
        return token.count > 24 ? "\(token.prefix(24))..." : token
    }
}
