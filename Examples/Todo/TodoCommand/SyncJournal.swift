import CloudKit
import Foundation
import Seams
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
            entry.status = status.words
            entry.inFlight = status.isSyncing
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
    var isSyncing: Bool {
        if case .syncing = self { true } else { false }
    }

    /// In words for a person.
    var words: String {
        switch self {
        case .idle: "everything is synced"
        case .syncing(let pending): pending == 0 ? "syncing" : "syncing, \(pending) to send"
        case .waiting(_, .otherProcess): "another process syncs this device"
        case .waiting(_, .suspended): "suspended"
        case .waiting(_, .anotherAccount): "another user's changes wait for that user, all else is synced"
        case .waiting(let until, let pause):
            "waiting for \(pause.words)"
                + (until.map { ", again at \(Clock.time(Int64($0.timeIntervalSince1970 * 1000)))" } ?? "")
        case .needsAttention(let problems): problems.map(\.words).joined(separator: "; ")
        }
    }
}

extension CloudSyncPause {
    fileprivate var words: String {
        switch self {
        case .network: "the network"
        case .server(let code): "the server (\(code))"
        case .localDatabase: "this device's file"
        case .suspended, .otherProcess, .anotherAccount: "its turn"
        }
    }
}

extension CloudSyncProblem {
    var words: String {
        switch self {
        case .account: "nobody is signed in: `todo login`, or `yap login`"
        case .anotherUser: "another user is signed in than the one whose list this is"
        case .quotaExceeded: "the storage in the cloud is full"
        case .zoneDeletedByUser(let name): "the zone \(name) was deleted"
        case .configuration, .untrustedServer, .wrongAddress: description
        case .unknownDatabase: "there is no such database"
        case .refused(let name, let code, let reason):
            "the server refuses \(name): \(reason ?? "\(code)")"
        case .stuck(let name): "the conflict of \(name) does not end"
        case .damaged(let name): "\(name): its change in the queue can't be read"
        case .zoneDiffers(let name): "the zone \(name) is not here what it is in the cloud"
        case .unrestorable(let name, let keys):
            "\(name): the values of \(keys.joined(separator: ", ")) are lost; set them again"
        }
    }
}
