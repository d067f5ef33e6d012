/// The system fields of each record, under the names that predicates and sorts use.
enum SystemFieldName: String, CaseIterable {
    case recordID = "___recordID"
    case creationDate = "___createTime"
    case modificationDate = "___modTime"
    case creator = "___createdBy"
    case lastModifier = "___modifiedBy"
    case parent = "___parent"
    case share = "___share"

    /// The field with the name `key`, a property of `CKRecord` or a key of `CKRecord.SystemFieldKey`.
    init?(_ key: String) {
        switch key {
        case "recordID", "recordName": self = .recordID
        case "creationDate": self = .creationDate
        case "modificationDate": self = .modificationDate
        case "creatorUserRecordID": self = .creator
        case "lastModifiedUserRecordID": self = .lastModifier
        case "parent": self = .parent
        case "share": self = .share
        default: self.init(rawValue: key)
        }
    }

    /// Returns the name in a request of the field of a predicate or sort.
    static func wireName(_ key: String) -> String { SystemFieldName(key)?.rawValue ?? key }
}
