import CloudWire

/// The system fields, by their names in a schema.
enum SystemField: String, CaseIterable {
    case createTime = "___createTime"
    case createdBy = "___createdBy"
    case etag = "___etag"
    case modTime = "___modTime"
    case modifiedBy = "___modifiedBy"
    case recordID = "___recordID"

    /// The type of the values.
    var type: FieldType {
        switch self {
        case .createTime, .modTime: .timestamp
        case .createdBy, .modifiedBy, .recordID: .reference
        case .etag: .string
        }
    }

    /// Returns true if the name is reserved and can't be a field of an app.
    static func isReserved(_ name: String) -> Bool { name.hasPrefix("___") }
}

extension SystemRole {
    /// All system roles.
    static let all: Set<String> = [world, signedIn, creator]
}
