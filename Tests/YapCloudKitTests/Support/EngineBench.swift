import CloudKit
import CloudKitTesting
import Foundation
import System
import Testing

@testable import YapCloudKit

/// The engine with what it asked for, in short.
struct EngineBench {
    static let database = DatabaseKey(nil)
    static let zoneID = CKRecordZone.ID(zoneName: "Z")

    var engine: SyncEngine
    var now: Int64 = 1_000_000
    var wake: Int64?
    var completions: [SyncCompletion] = []
    var told: [CKError] = []
    var events: [String] = []
    /// The number of what was begun last.
    var attempt = 0

    init(_ failures: YapDatabaseCloudKit.FailureHandling = .automatic) {
        engine = SyncEngine(random: SeededRandomSource(seed: 1), failures: failures)
    }

    mutating func handle(_ event: SyncEvent, attempt: Int? = nil) -> [String] {
        engine.handle(event, attempt: attempt, now: now).compactMap { action in
            switch action {
            case .begin(let work, let key, let attempt):
                self.attempt = attempt
                return name(work, key)
            case .cancel(_, let attempt): return "cancel \(attempt)"
            case .count: return "count"
            case .listen: return "listen"
            case .wake(let milliseconds):
                wake = milliseconds
                return nil
            case .report(_, let error):
                told.append(error)
                return nil
            case .announce(let event):
                events.append("\(event)")
                return nil
            case .status: return nil
            }
        }
    }

    private mutating func name(_ work: SyncWork, _ key: DatabaseKey) -> String {
        switch work {
        case .send(let limits):
            return "send \(key.identifier ?? "-") \(limits.itemsMax)"
                + (limits.takesDeletionsOnly ? " deletions" : "")
        case .complete(let completion):
            completions.append(completion)
            return "complete"
        case .fetch(let zoneID): return "fetch \(zoneID.zoneName)"
        case .createZone(let zoneID): return "create \(zoneID.zoneName)"
        case .dropToken(_, let refusal): return "drop \(refusal.rawValue)"
        case .liftQuarantine(let code): return code.map { "lift \($0.rawValue)" } ?? "lift"
        case .subscribe: return "subscribe"
        }
    }

    mutating func suspend(by change: Int) -> [String] {
        let isAllowed = engine.changeSuspendCount(by: change)
        return handle(.suspendCount(engine.suspendCount, isMisuse: !isAllowed))
    }

    mutating func count(_ pending: Int, in database: DatabaseKey = EngineBench.database) -> [String] {
        handle(.counted(database, QueueCount(pending: pending)))
    }

    mutating func applied(_ pending: Int) -> [String] {
        handle(.applied(Self.database, QueueCount(pending: pending)))
    }

    mutating func answer(
        _ outcomes: SendReply.Outcome..., kind: SyncItem.Kind = .save, sentTag: String? = "t",
        whole: CKError? = nil
    )
        -> [String]
    {
        let items = outcomes.enumerated().map { (item("\($0.offset)", kind, sentTag), $0.element) }
        return handle(.sent(Self.database, SendReply(items: items, error: whole)))
    }

    /// The same, with the result written down.
    mutating func answered(
        _ outcomes: SendReply.Outcome..., kind: SyncItem.Kind = .save, sentTag: String? = "t",
        left: Int = 1
    ) -> [String] {
        let items = outcomes.enumerated().map { (item("\($0.offset)", kind, sentTag), $0.element) }
        let actions = handle(.sent(Self.database, SendReply(items: items)))
        #expect(actions.first == "complete")
        return actions.dropFirst() + applied(left)
    }

    func item(_ name: String, _ kind: SyncItem.Kind, _ sentTag: String?) -> SyncItem {
        SyncItem(
            recordID: id(name), kind: kind, sequence: 1,
            incarnation: 1, sentTag: sentTag)
    }

    func id(_ name: String) -> CKRecord.ID { CKRecord.ID(recordName: name, zoneID: Self.zoneID) }

    func saved(_ name: String) -> SendReply.Outcome {
        .saved(CKRecord(recordType: "todo", recordID: id(name)))
    }

    static func conflict(tag: String?, modified: Date? = nil) -> CKError {
        var state = RecordState(recordType: "todo", recordID: CKRecord.ID(recordName: "0", zoneID: zoneID))
        state.changeTag = tag
        state.modificationDate = modified
        return CKError(
            .serverRecordChanged, userInfo: [CKRecordChangedErrorServerRecordKey: CKRecord(state: state)])
    }
}
