internal import CloudKit
import Foundation
internal import System

extension CloudSyncStatus {
    /// The status in one line for users of the app, in English: "Up to date, checked 14:05", "3 changes wait: no
    /// network, next try 14:06". It names no functions; `description` does.
    ///
    /// Times are in the current time zone, with the day unless it is today.
    public var summary: String {
        let now = Date(timeIntervalSince1970: Double(SystemTimeSource().nowMilliseconds()) / 1000)
        return summary(ShortTime(now: now, timeZone: .current))
    }

    func summary(_ time: ShortTime) -> String {
        var parts: [String] = []
        if let first = problems.first {
            let more = problems.count - 1
            parts.append(
                first.summary
                    + (more == 0 ? "" : more == 1 ? ", and 1 more problem" : ", and \(more) more problems"))
        }
        // A sync with problems isn't called up to date.
        if problems.isEmpty {
            parts.append(activity(time))
        } else if isSyncing || pause != nil || pendingCount > 0 {
            let text = activity(time)
            parts.append(text.prefix(1).lowercased() + text.dropFirst())
        }
        return parts.joined(separator: "; ")
    }

    /// What is being sent or is pending, and why.
    private func activity(_ time: ShortTime) -> String {
        let changes = pendingCount == 1 ? "1 change" : "\(pendingCount) changes"
        if isSyncing { return pendingCount == 0 ? "Syncing" : "Syncing, \(changes) to send" }
        guard let pause, pause != .anotherAccount else {
            guard pendingCount == 0 else { return changes + (pendingCount == 1 ? " waits" : " wait") }
            let rest = pause == nil ? "" : "; \(CloudSyncPause.anotherAccount.phrase)"
            return (lastResponseDate.map { "Up to date, checked \(time.text($0))" } ?? "Nothing to send")
                + rest
        }
        let waits = pendingCount == 0 ? "Sync waits" : changes + (pendingCount == 1 ? " waits" : " wait")
        return "\(waits): \(pause.phrase)" + (pauseEndDate.map { ", next try \(time.text($0))" } ?? "")
    }
}

extension CloudSyncPause {
    /// Why work waits, in one line for users of the app, in English: "No network".
    public var summary: String { phrase.prefix(1).uppercased() + phrase.dropFirst() }

    /// The same as a part of a sentence.
    fileprivate var phrase: String {
        switch self {
        case .suspended: "sync is suspended"
        case .network: "no network"
        case .server(.requestRateLimited), .server(.zoneBusy): "the server is busy"
        case .server(.serviceUnavailable): "the server is not available"
        case .server: "the server reported an error"
        case .otherProcess: "another process syncs this device"
        case .localDatabase: "this device can't save, its storage may be full"
        case .anotherAccount: "another user's changes wait for that user"
        }
    }
}

extension CloudSyncProblem {
    /// The problem in one line for users of the app, in English: "The storage in the cloud is full".
    public var summary: String {
        switch self {
        case .account(.notAuthenticated): "No user is signed in"
        case .account: "The account can't be used now"
        case .anotherUser: "Another user is signed in"
        case .quotaExceeded: "The storage in the cloud is full"
        case .zoneDeletedByUser(let zone): "The data of \(zone) was deleted in the cloud"
        case .configuration: "The sync is not set up correctly"
        case .untrustedServer: "The server's certificate is not trusted"
        case .wrongAddress: "The server's address is wrong"
        case .unknownDatabase(let identifier):
            "The app doesn't know the database \(identifier ?? "of the user")"
        case .refused(let record, _, _): "The server rejects the change of \(record)"
        case .stuck(let record): "The change of \(record) conflicts again and again"
        case .unrestorable(let record, _): "Values of the change of \(record) are missing"
        case .damaged(let record): "The change of \(record) can't be read"
        case .zoneDiffers(let zone): "The data of \(zone) differs from the cloud's"
        }
    }
}

/// A time in a line of text: the hour and minute, with the day unless it is today.
struct ShortTime {
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    let now: Date
    let timeZone: TimeZone

    func text(_ date: Date) -> String {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = timeZone
        let units: Set<Calendar.Component> = [.year, .month, .day, .hour, .minute]
        let parts = calendar.dateComponents(units, from: date)
        let today = calendar.dateComponents(units, from: now)
        let clock = [parts.hour ?? 0, parts.minute ?? 0].map { $0 < 10 ? "0\($0)" : "\($0)" }
            .joined(separator: ":")
        guard (parts.year, parts.month, parts.day) != (today.year, today.month, today.day) else {
            return clock
        }
        let index = (parts.month ?? 0) - 1
        let month = Self.months.indices.contains(index) ? Self.months[index] : "?"
        let year = parts.year == today.year ? "" : " \(parts.year ?? 0)"
        return "\(parts.day ?? 0) \(month)\(year) \(clock)"
    }
}
