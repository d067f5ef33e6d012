import Foundation

/// An operation that can be kept on the disk and made again by another process.
protocol LongLivedOperation: CKDatabaseOperation {
    /// The name of the class in what is kept.
    static var kind: String { get }
    /// The files that it will send.
    var filesToSend: [URL] { get }
    /// Writes what the app set, but for blocks.
    func encodeInputs(with coder: NSCoder)
    /// Reads what `encodeInputs(with:)` wrote.
    func takeInputs(from coder: NSCoder)
}

extension LongLivedOperation {
    var filesToSend: [URL] { [] }

    /// The operation as a keyed archive.
    func archive() -> [UInt8] {
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        effectiveConfiguration.encode(with: archiver)
        if let group { archiver.encode(group, forKey: "Group") }
        encodeInputs(with: archiver)
        archiver.finishEncoding()
        return [UInt8](archiver.encodedData)
    }
}

/// Makes operations from what was kept of them.
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

    /// The operation, without blocks; nil for one of a class that isn't known.
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
    /// Writes a list; nothing for none, so that none and an empty one stay apart.
    func encode(list: [some NSObject]?, forKey key: String) {
        if let list { encode(NSArray(array: list), forKey: key) }
    }

    func encode(strings: [String]?, forKey key: String) {
        if let strings { encode(NSArray(array: strings.map { $0 as NSString }), forKey: key) }
    }

    /// The list of what `encode(list:forKey:)` wrote.
    func list<Element: NSObject>(of type: Element.Type, forKey key: String) -> [Element]? {
        object(ofAny: [NSArray.self, type], forKey: key) as? [Element]
    }

    func strings(forKey key: String) -> [String]? {
        (object(NSArray.self, forKey: key)).map { list in list.compactMap { $0 as? String } }
    }
}
