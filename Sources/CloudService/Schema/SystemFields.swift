import CloudWire

/// The fields that every record has, by their names in a schema.
enum SystemField: String, CaseIterable {
    case createTime = "___createTime"
    case createdBy = "___createdBy"
    case etag = "___etag"
    case modTime = "___modTime"
    case modifiedBy = "___modifiedBy"
    case recordID = "___recordID"

    /// What the field holds.
    var type: FieldType {
        switch self {
        case .createTime, .modTime: .timestamp
        case .createdBy, .modifiedBy, .recordID: .reference
        case .etag: .string
        }
    }

    /// Returns true if a name can't be a field of an app's.
    static func isReserved(_ name: String) -> Bool { name.hasPrefix("___") }
}

extension SystemRole {
    /// The three.
    static let all: Set<String> = [world, signedIn, creator]
}
