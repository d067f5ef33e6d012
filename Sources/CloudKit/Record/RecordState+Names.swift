extension RecordState {
    /// Checks the names for which Apple's platforms raise an exception when the record is made. Here the save
    /// reports them, because an initializer and a subscript can't throw.
    /// - Throws: `CKError.invalidArguments`.
    func checkNames() throws(CKError) {
        let isNew = changeTag == nil
        if isNew, recordID.recordName.utf8.first == UInt8(ascii: "_"),
            recordType != CKRecord.SystemType.userRecord
        {
            throw refusal("a record name can't begin with _")
        }
        if isNew, !Self.isName(recordType) {
            throw refusal("its type \"\(recordType)\" must be a letter followed by letters, digits and _")
        }
        for store in [plain, encrypted] {
            for key in store.changedKeys where !Self.isName(key) && store.values[key] != nil {
                throw refusal("its field \"\(key)\" must be a letter followed by letters, digits and _")
            }
            // A predicate with that name refers to the system field.
            for key in store.changedKeys where SystemFieldName(key) != nil && store.values[key] != nil {
                throw refusal(
                    "its field \"\(key)\" has the name of a property of every record: rename it")
            }
        }
        for key in encrypted.changedKeys where encrypted.values[key] != nil && plain.values[key] != nil {
            throw refusal("its field \(key) is both encrypted and not encrypted")
        }
        if parent?.action == .deleteSelf {
            throw refusal("a reference to a parent must have the action none")
        }
    }

    private func refusal(_ problem: String) -> CKError {
        CKError(.invalidArguments, "\(recordID.recordName) can't be saved: \(problem).")
    }

    /// Returns true if a type or a field can have this name. Compares bytes, because it is called for each field of
    /// each record.
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
