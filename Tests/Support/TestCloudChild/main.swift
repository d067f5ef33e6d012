import CloudKit
import CloudKitTesting
import Foundation

// A test that waits, as a process of its own: Ada has a note, and lines of the standard input say what to do. The
// process has no other thread than this one, unless the dashboard is served.

let cloud = TestCloud()
let other = TestCloud()
let database = cloud.device(user: "ada").container.privateCloudDatabase
let zone = CKRecordZone(zoneName: "notes")
let recordID = CKRecord.ID(recordName: "shopping", zoneID: zone.zoneID)

let zones = CKModifyRecordZonesOperation(recordZonesToSave: [zone])
database.add(zones)
let note = CKRecord(recordType: "Note", recordID: recordID)
note["text"] = "milk"
let saving = CKModifyRecordsOperation(recordsToSave: [note])
saving.modifyRecordsResultBlock = { print("saved: \($0)") }
database.add(saving)
print("threads: \((try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count) ?? 0)")
print("ready")
fflush(nil)

while let line = readLine() {
    switch line {
    case "show":
        let fetching = CKFetchRecordsOperation(recordIDs: [recordID])
        fetching.perRecordResultBlock = { _, result in
            print("text: \((try? result.get())?["text"] as? String ?? "none")")
        }
        database.add(fetching)
    case "restart":
        do { try cloud.restartService() } catch { print("failed: \(error)") }
        print("restarted")
    case "user":
        _ = cloud.device(user: "grace")
        print("added")
    default: print("unknown: \(line)")
    }
    fflush(nil)
}
