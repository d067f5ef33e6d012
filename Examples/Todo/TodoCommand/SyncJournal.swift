import CloudKit
import Foundation
import System
import YapCloudKit

/// What the process that syncs leaves for `todo status`, in a file of the device's folder: how far it is, what went
/// wrong, and when it last worked.
final class SyncJournal: Sendable {
    struct Entry: Codable {
        var process: Int32 = 0
        var status = "never synced"
        var inFlight = false
        var lastError: String?
        var lastErrorAt: Int64?
        var lastWorkedAt: Int64?
    }

    private let path: String
    private let entry: Lock<Entry>

    init(_ folder: DeviceFolder) {
        path = folder.file("sync-status.json")
        entry = Lock(Self.read(folder))
    }

    /// What the file says.
    static func read(_ folder: DeviceFolder) -> Entry {
        guard let data = FileManager.default.contents(atPath: folder.file("sync-status.json")) else {
            return Entry()
        }
        return (try? JSONDecoder().decode(Entry.self, from: data)) ?? Entry()
    }

    /// Notes how far the sync is.
    /// - Parameter worked: Whether something was sent or fetched since the last time.
    func note(_ status: CloudSyncStatus, worked: Bool) {
        change { entry in
            entry.process = getpid()
            entry.status = status.line
            entry.inFlight = status.state == .syncing
            if worked { entry.lastWorkedAt = Clock.now() }
        }
    }

    func note(_ error: CKError) {
        change { entry in
            entry.lastError = "\(error.code) (\(error.code.rawValue)): \(error.localizedDescription)"
            entry.lastErrorAt = Clock.now()
        }
    }

    /// The process that syncs ends.
    func end() {
        change { $0.inFlight = false }
    }

    private func change(_ body: (inout Entry) -> Void) {
        entry.withLock { entry in
            body(&entry)
            // Written under the lock, so that an older one never replaces a newer one. It is for people to read: a
            // device that can't write it still syncs.
            guard let data = try? JSONEncoder().encode(entry) else { return }
            try? data.write(to: URL(filePath: path), options: .atomic)
        }
    }
}

extension CloudSyncStatus {
    /// A line for a person. `todo status` has the time of the last sync already.
    var line: String {
        let text = state == .idle ? "everything is synced" : summary
        return problems.contains(.account(.notAuthenticated)) ? text + ": `todo login`, or `yap login`" : text
    }
}
