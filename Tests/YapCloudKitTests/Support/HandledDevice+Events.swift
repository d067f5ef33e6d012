import CloudKit
import CloudKitTesting
import Yap

@testable import YapCloudKit

extension HandledDevice {
    /// The uploads' events so far, in short: "flies S1,2 D3", "done S1,2 D3 next yes", "failed S1 networkFailure".
    func seenEvents(_ events: AsyncStream<YapDatabaseCloudKit.Event>) async -> [String] {
        // What comes last is known, so that what is there can be read without waiting for more.
        let last = cloudKit.suspend(count: 1000)
        scheduler.runUntilQuiet()
        var found: [String] = []
        for await event in events {
            if case .suspendCountChanged(last) = event { break }
            found.append(Self.name(event))
        }
        for _ in 0..<1000 { cloudKit.resume() }
        return found
    }

    private static func name(_ event: YapDatabaseCloudKit.Event) -> String {
        switch event {
        case .suspendCountChanged(let count): "count \(count)"
        case .resumedTooOften: "too often"
        case .inFlight(let batch): "flies\(name(batch))"
        case .completed(let batch, let next): "done\(name(batch)) next \(next == nil ? "no" : "yes")"
        case .failed(let batch, let error): "failed\(name(batch)) \(error.code)"
        }
    }

    private static func name(_ batch: YapDatabaseCloudKit.Batch) -> String {
        let saved = batch.savedRecordIDs.map(\.recordName).joined(separator: ",")
        let deleted = batch.deletedRecordIDs.map(\.recordName).joined(separator: ",")
        return (saved.isEmpty ? "" : " S" + saved) + (deleted.isEmpty ? "" : " D" + deleted)
            + (batch.databaseIdentifier.map { " in \($0)" } ?? "")
    }

    /// The names of the change-sets that wait.
    func uuids() throws -> [String] { try read { _, ext in try ext.pendingChangeSets().map(\.uuid) } }

    /// How many change-sets an operation has, and how many wait, of one moment.
    struct Counts: Equatable {
        var inFlight: Int
        var queued: Int
    }

    func counts() throws -> Counts {
        let (inFlight, queued) = try read { _, ext in try ext.numberOfChangeSets() }
        return Counts(inFlight: inFlight, queued: queued)
    }
}
