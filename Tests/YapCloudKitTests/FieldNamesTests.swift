import CloudKit
import CloudKitTesting
import System
import Testing

@testable import YapCloudKit

/// Names that no field of a model can have are known before anything is saved.
@Suite struct FieldNamesTests {
    @Test func aNameIsALetterAndThenLettersDigitsAndUnderscores() {
        for name in ["a", "Z9", "is_done", String(repeating: "x", count: 255)] {
            #expect(FieldNames.problem(of: name) == nil)
        }
        for name in ["", "_a", "9", "a b", "é", "a.b", "___recordID", String(repeating: "x", count: 256)] {
            #expect(FieldNames.problem(of: name) != nil, "\(name)")
        }
    }

    @Test(arguments: FieldNames.reserved.sorted())
    func aReservedNameIsOneThatNoRecordCanBeSavedWith(_ name: String) throws {
        #expect(FieldNames.problem(of: name) == "is the name of a property of every record")
        let record = CKRecord(recordType: "note", recordID: CKRecord.ID(recordName: "1"))
        record[name] = "text"
        let saved = Lock<Result<CKRecord, any Error>?>(nil)
        let operation = CKModifyRecordsOperation(recordsToSave: [record])
        operation.perRecordSaveBlock = { _, result in saved.withLock { $0 = result } }
        TestCloud().device(user: "ada").container.privateCloudDatabase.add(operation)
        guard case .failure(let error as CKError)? = saved.withLock({ $0 }) else {
            Issue.record("\(name) was saved")
            return
        }
        #expect(error.code == .invalidArguments)
        #expect(
            error.localizedDescription.contains("1 can't be saved: its field \"\(name)\" has the name of"))
    }
}
