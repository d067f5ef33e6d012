public import CloudKit
internal import CloudWire

extension CKRecord {
    /// Returns true if the record has this value under a key. Use it in merge blocks to compare the server's
    /// values with local values. Numbers are compared as numbers, and dates by their millisecond, as the
    /// cloud stores them.
    ///
    /// - Parameters:
    ///   - value: A value, or nil for no value.
    ///   - key: Name of the field.
    /// - Returns: False also for a value that a record can't hold.
    public func has(_ value: (any CKRecordValueProtocol)?, forKey key: CKRecord.FieldKey) -> Bool {
        let both = CKRecord(recordType: recordType, recordID: recordID)
        both["here"] = object(forKey: key)
        both["there"] = value
        guard let fields = try? both.changedFields() else { return false }
        return fields["here"]?.value == fields["there"]?.value
    }
}
