import CloudKit
import Dispatch
import Foundation
import Glibc
import Waiting

// An app that begins a long-lived operation, or takes up those of its earlier life. It says what its blocks were called
// with, and kills itself in the block that it is given.
// Usage: LongLivedChild begin save|changes|query FILE [BLOCK]
//        LongLivedChild resume [BLOCK]

func say(_ line: String) {
    let line = line + "\n"
    guard line.withCString({ write(1, $0, strlen($0)) }) == line.utf8.count else { exit(2) }
}

func text<Success>(_ result: Result<Success, any Error>) -> String {
    switch result {
    case .success: "done"
    case .failure(let error): "\((error as? CKError)?.code.rawValue ?? -1)"
    }
}

/// Sets an operation's blocks, each of which says its name, and kills the process when it is this one's turn.
struct Blocks: Sendable {
    let deadly: String
    let isDone: DispatchSemaphore

    func call(_ name: String, _ words: String = "") {
        say(words.isEmpty ? name : "\(name) \(words)")
        if name == deadly { kill(getpid(), SIGKILL) }
    }

    func set(_ operation: CKOperation) {
        operation.longLivedOperationWasPersistedBlock = { call("persisted", operation.operationID) }
        operation.completionBlock = {
            call("completion")
            isDone.signal()
        }
        switch operation {
        case let save as CKModifyRecordsOperation:
            save.perRecordSaveBlock = { id, result in
                let photo: CKAsset? = (try? result.get())?["photo"]
                call("saved", "\(id.recordName) \(text(result)) \(photo?.fileURL?.lastPathComponent ?? "-")")
            }
            save.modifyRecordsResultBlock = { call("result", text($0)) }
        case let changes as CKFetchRecordZoneChangesOperation:
            changes.recordWasChangedBlock = { call("changed", "\($0.recordName) \(text($1))") }
            changes.recordZoneChangeTokensUpdatedBlock = { _, token, _ in call("token", "\(token != nil)") }
            changes.recordZoneFetchResultBlock = { call("zone", "\($0.zoneName) \(text($1))") }
            changes.fetchRecordZoneChangesResultBlock = { call("result", text($0)) }
        case let query as CKQueryOperation:
            query.recordMatchedBlock = { call("matched", "\($0.recordName) \(text($1))") }
            query.queryResultBlock = { call("result", text($0)) }
        default: say("unknown \(type(of: operation))")
        }
    }
}

func operation(_ kind: String, file: String) -> CKDatabaseOperation {
    let zoneID = CKRecordZone.ID(zoneName: "todos")
    switch kind {
    case "changes":
        return CKFetchRecordZoneChangesOperation(
            recordZoneIDs: [zoneID], configurationsByRecordZoneID: [zoneID: .init(resultsLimit: 2)])
    case "query":
        let query = CKQuery(recordType: "todo", predicate: NSPredicate(format: "title BEGINSWITH %@", "t"))
        query.sortDescriptors = [NSSortDescriptor(key: "title", ascending: false)]
        return CKQueryOperation(query: query)
    default:
        let records = ["a", "b"].map { name in
            CKRecord(recordType: "todo", recordID: CKRecord.ID(recordName: name, zoneID: zoneID))
        }
        records[0]["title"] = "eggs"
        records[1]["photo"] = CKAsset(fileURL: URL(fileURLWithPath: file))
        records[1]["price"] = 0.1 + 0.2
        return CKModifyRecordsOperation(recordsToSave: records)
    }
}

/// An operation is kept until its completion block has returned, after the block has printed its line.
func waitUntilNothingIsKept() throws {
    let folder = (ProcessInfo.processInfo.environment["XDG_STATE_HOME"] ?? "") + "/yap/operations"
    let files = FileManager.default
    try Polling.waitUntil {
        !(files.subpaths(atPath: folder)?.contains { $0.contains("/") } ?? false)
    }
}

let words = Array(CommandLine.arguments.dropFirst())
let container = CKContainer.default()
let isDone = DispatchSemaphore(value: 0)
switch words.first {
case "begin":
    let operation = operation(words[1], file: words[2])
    operation.configuration.isLongLived = true
    Blocks(deadly: words.count > 3 ? words[3] : "", isDone: isDone).set(operation)
    container.privateCloudDatabase.add(operation)
    isDone.wait()
    try waitUntilNothingIsKept()
case "resume":
    let blocks = Blocks(deadly: words.count > 1 ? words[1] : "", isDone: isDone)
    let ids = try await container.allLongLivedOperationIDs()
    say("ids \(ids.joined(separator: ","))")
    for id in ids {
        guard let operation = try await container.longLivedOperation(for: id) else { continue }
        blocks.set(operation)
        container.add(operation)
        await Task.detached { isDone.wait() }.value
        try waitUntilNothingIsKept()
    }
    say("left \(try await container.allLongLivedOperationIDs().count)")
default: exit(1)
}
