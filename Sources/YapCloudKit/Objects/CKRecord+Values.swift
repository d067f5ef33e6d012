public import CloudKit
internal import CloudWire

extension CKRecord {
    /// Whether the record has this value under a key: for merge blocks, which compare the server's values with those
    /// here. Numbers are compared as numbers and dates by their millisecond, as the cloud keeps them.
    ///
    /// - Parameters:
    ///   - value: A value; nil for none.
    ///   - key: Name of the field.
    /// - Returns: false also for a value that no record can hold.
    public func has(_ value: (any CKRecordValueProtocol)?, forKey key: CKRecord.FieldKey) -> Bool {
        let both = CKRecord(recordType: recordType, recordID: recordID)
        both["here"] = object(forKey: key)
        both["there"] = value
        guard let fields = try? both.changedFields() else { return false }
        return fields["here"]?.value == fields["there"]?.value
    }
}
