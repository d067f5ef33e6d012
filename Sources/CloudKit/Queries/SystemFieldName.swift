/// The fields that the cloud itself keeps of each record, under the names that predicates and sorts use.
enum SystemFieldName: String, CaseIterable {
    case recordID = "___recordID"
    case creationDate = "___createTime"
    case modificationDate = "___modTime"
    case creator = "___createdBy"
    case lastModifier = "___modifiedBy"
    case parent = "___parent"
    case share = "___share"

    /// The field that `key` names: as a property of `CKRecord`, or as `CKRecord.SystemFieldKey` has it.
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

    /// What the wire calls the field of a predicate or of a sort.
    static func wireName(_ key: String) -> String { SystemFieldName(key)?.rawValue ?? key }
}
