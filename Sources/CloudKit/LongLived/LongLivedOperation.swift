import Foundation

/// An operation that can be stored on the disk and restored by another process.
protocol LongLivedOperation: CKDatabaseOperation {
    /// The name of the class in the stored form.
    static var kind: String { get }
    /// The files to upload.
    var filesToSend: [URL] { get }
    /// Encodes the properties that the app has set, without blocks.
    func encodeInputs(with coder: NSCoder)
    /// Decodes what `encodeInputs(with:)` has encoded.
    func takeInputs(from coder: NSCoder)
}

extension LongLivedOperation {
    var filesToSend: [URL] { [] }

    /// Returns the operation as a keyed archive.
    func archive() -> [UInt8] {
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        effectiveConfiguration.encode(with: archiver)
        if let group { archiver.encode(group, forKey: "Group") }
        encodeInputs(with: archiver)
        archiver.finishEncoding()
        return [UInt8](archiver.encodedData)
    }
}

/// Restores operations from their stored form.
enum LongLivedOperations {
    private static let makers: [String: @Sendable () -> any LongLivedOperation] = [
        CKModifyRecordsOperation.kind: { CKModifyRecordsOperation() },
        CKFetchRecordsOperation.kind: { CKFetchRecordsOperation() },
        CKQueryOperation.kind: { CKQueryOperation() },
        CKFetchRecordZoneChangesOperation.kind: { CKFetchRecordZoneChangesOperation() },
        CKFetchDatabaseChangesOperation.kind: { CKFetchDatabaseChangesOperation() },
        CKModifyRecordZonesOperation.kind: { CKModifyRecordZonesOperation() },
        CKFetchRecordZonesOperation.kind: { CKFetchRecordZonesOperation() },
        CKModifySubscriptionsOperation.kind: { CKModifySubscriptionsOperation() },
        CKFetchSubscriptionsOperation.kind: { CKFetchSubscriptionsOperation() },
    ]

    /// Returns the operation, without blocks, or nil for an unknown class.
    static func make(_ header: OperationHeader, _ archive: Data) -> (any LongLivedOperation)? {
        guard let operation = makers[header.kind]?(),
            let coder = try? NSKeyedUnarchiver(forReadingFrom: archive)
        else { return nil }
        operation.operationID = header.operationID
        operation.isRestored = true
        operation.configuration = CKOperation.Configuration(from: coder)
        operation.group = coder.object(CKOperationGroup.self, forKey: "Group")
        operation.takeInputs(from: coder)
        coder.finishDecoding()
        return operation
    }
}

extension NSCoder {
    /// Encodes a list. Nil encodes nothing, so that nil and an empty list differ.
    func encode(list: [some NSObject]?, forKey key: String) {
        if let list { encode(NSArray(array: list), forKey: key) }
    }

    func encode(strings: [String]?, forKey key: String) {
        if let strings { encode(NSArray(array: strings.map { $0 as NSString }), forKey: key) }
    }

    /// Returns the list that `encode(list:forKey:)` has encoded.
    func list<Element: NSObject>(of type: Element.Type, forKey key: String) -> [Element]? {
        object(ofAny: [NSArray.self, type], forKey: key) as? [Element]
    }

    func strings(forKey key: String) -> [String]? {
        (object(NSArray.self, forKey: key)).map { list in list.compactMap { $0 as? String } }
    }
}
