import Foundation

/// Keys of `userInfo` under which an error's message has its parts, and an app finds them.
enum ErrorKey {
    /// The message without the names of the affected items.
    static let description = "CKErrorDescription"
    /// The identifier of the container.
    static let container = "ContainerID"
    /// The ID of the request in the server's log.
    static let request = "RequestUUID"
    /// The server's message.
    static let serverReason = "ServerErrorDescription"
    /// Where a user signs in, when the server says so.
    static let redirectURL = "RedirectURL"
    /// The `CKRecord.ID` that it is about.
    static let record = "RecordID"
    /// The `CKRecordZone.ID` that it is about.
    static let zone = "ZoneID"
}

extension CKError {
    /// The same error with the names of the affected items added. Existing names stay. The printed error and
    /// its message show the names.
    func naming(
        record: CKRecordID? = nil, zone: CKRecordZoneID? = nil, container: String? = nil,
        request: String? = nil
    ) -> CKError {
        var userInfo = userInfo
        let names: [(String, Any?)] = [
            (ErrorKey.record, record), (ErrorKey.zone, zone ?? record?.zoneID),
            (ErrorKey.container, container), (ErrorKey.request, request),
        ]
        for (key, name) in names where userInfo[key] == nil { userInfo[key] = name }
        guard userInfo.count > self.userInfo.count else { return self }
        return CKError(code, bareMessage, userInfo: userInfo)
    }

    /// The same error with `words` before its message.
    func prefixed(_ words: String) -> CKError {
        CKError(code, "\(words): \(bareMessage)", userInfo: userInfo)
    }

    /// The message without the names.
    var bareMessage: String {
        (userInfo[ErrorKey.description] ?? userInfo[NSLocalizedDescriptionKey]) as? String ?? code.summary
    }

    /// Returns the whole message: the words, and in brackets the affected items.
    static func message(_ words: String, _ userInfo: [String: Any]) -> String {
        var names: [String] = []
        if let record = userInfo[ErrorKey.record] as? CKRecordID {
            names.append("record \(record.recordName)")
        }
        if let zone = userInfo[ErrorKey.zone] as? CKRecordZoneID {
            let owner = zone.ownerName == CKCurrentUserDefaultName ? "" : " of \(zone.ownerName)"
            names.append("zone \(zone.zoneName)\(owner)")
        }
        if let container = userInfo[ErrorKey.container] as? String { names.append("container \(container)") }
        if let request = userInfo[ErrorKey.request] as? String { names.append("request \(request)") }
        return names.isEmpty ? words : "\(words) (\(names.joined(separator: ", ")))"
    }
}

extension CKError: CustomStringConvertible, CustomDebugStringConvertible {
    /// Maximum items of a partial failure in the description.
    private static let itemsToldMax = 20

    /// The code in words and as a number, the message with the names of the affected items, the retry delay,
    /// the errors of single items, and the remedy.
    public var description: String { "\(line) What to do: \(remedy)>" }

    /// The description without its end, which is printed once and not for each item.
    private var line: String {
        var text = "<CKError \"\(code.title)\" (\(code.rawValue)): \(Self.message(bareMessage, userInfo))"
        if let retryAfterSeconds { text += "; retry after \(retryAfterSeconds) s" }
        if let partialErrorsByItemID {
            let told = Self.told(partialErrorsByItemID)
            text += "; partial errors: {\(told.prefix(Self.itemsToldMax).joined(separator: ", "))"
            if told.count > Self.itemsToldMax { text += ", and \(told.count - Self.itemsToldMax) more" }
            text += "}"
        }
        return text.hasSuffix(".") ? text : text + "."
    }

    /// The same as the description.
    public var debugDescription: String { description }

    /// Returns the items with their errors, in an order that is the same each time.
    private static func told(_ errors: [AnyHashable: any Error]) -> [String] {
        errors.map { item, error in
            "\(name(of: item.base)): " + ((error as? CKError).map { $0.line + ">" } ?? "\(error)")
        }.sorted()
    }

    private static func name(of item: Any) -> String {
        switch item {
        case let record as CKRecordID: "\(record.recordName) in \(record.zoneID.zoneName)"
        case let zone as CKRecordZoneID: zone.zoneName
        default: "\(item)"
        }
    }
}

extension CKError {
    static let cancelled = CKError(.operationCancelled, "The operation was cancelled.")

    /// Returns the error of an operation with failed items. Its message describes the first of them, so that the
    /// error alone is useful.
    static func partialFailure(_ errors: [AnyHashable: any Error]) -> CKError {
        let first = errors.values.compactMap { $0 as? CKError }
            .filter { $0.code != .batchRequestFailed || errors.count == 1 }
            .map(\.localizedDescription).min()
        let count = errors.count == 1 ? "1 item" : "\(errors.count) items"
        return CKError(
            .partialFailure, "\(count) failed" + (first.map { ", as this one: \($0)" } ?? ""),
            userInfo: [CKPartialErrorsByItemIDKey: errors])
    }
}

extension CKErrorCode {
    /// The code's name as words: "Server Record Changed".
    var title: String {
        "\(self)".reduce(into: "") { title, character in
            if title.isEmpty { return title.append(character.uppercased()) }
            if character.isUppercase { title.append(" ") }
            title.append(character)
        }
    }
}
