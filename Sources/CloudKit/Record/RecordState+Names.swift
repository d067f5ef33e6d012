extension RecordState {
    /// Looks for what raises an exception on Apple's platforms, where the record is made. It is found at the save here:
    /// an initializer and a subscript can't throw.
    /// - Throws: `CKError.invalidArguments`.
    func checkNames() throws(CKError) {
        let isNew = changeTag == nil
        if isNew, recordID.recordName.utf8.first == UInt8(ascii: "_"),
            recordType != CKRecord.SystemType.userRecord
        {
            throw refusal("a record's name doesn't begin with _")
        }
        if isNew, !Self.isName(recordType) {
            throw refusal("its type \"\(recordType)\" isn't a letter and then letters, digits and _")
        }
        for store in [plain, encrypted] {
            for key in store.changedKeys where !Self.isName(key) && store.values[key] != nil {
                throw refusal("its field \"\(key)\" isn't a letter and then letters, digits and _")
            }
            // A predicate of that name asks what the cloud itself keeps of the record.
            for key in store.changedKeys where SystemFieldName(key) != nil && store.values[key] != nil {
                throw refusal(
                    "its field \"\(key)\" has the name of a property of every record: name it otherwise")
            }
        }
        for key in encrypted.changedKeys where encrypted.values[key] != nil && plain.values[key] != nil {
            throw refusal("its field \(key) is encrypted and isn't: it can be only one of them")
        }
        if parent?.action == .deleteSelf {
            throw refusal("a reference to a parent has the action none")
        }
    }

    private func refusal(_ problem: String) -> CKError {
        CKError(.invalidArguments, "\(recordID.recordName) can't be saved: \(problem).")
    }

    /// Whether a type or a field can have this name, by its bytes: it is asked for each field of each record.
    private static func isName(_ name: String) -> Bool {
        var isFirst = true
        for byte in name.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): break
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
                if isFirst { return false }
            default: return false
            }
            isFirst = false
        }
        return !isFirst && name.utf8.count <= 255
    }
}
