import CloudWire

extension Schema {
    /// The type of user records, which every schema has.
    public static let usersTypeName = "Users"

    /// The schema of a new environment: user records, as in Apple's service.
    public static let initial: Schema = {
        var schema = Schema()
        schema.recordTypes[usersTypeName] = .users
        return schema
    }()
}

extension RecordType {
    /// User records: everyone can read them, and each user can write their own.
    static let users: RecordType = {
        var type = RecordType()
        type.fields["roles"] = FieldDefinition(.int64List)
        type.grants = [SystemRole.creator: .write, SystemRole.world: .read]
        return type
    }()

    /// Permissions for record types without grants: everyone can read, signed-in users can create, and the
    /// creator can change records.
    static let usualGrants: [String: Permissions] = [
        SystemRole.creator: .write, SystemRole.signedIn: .create, SystemRole.world: .read,
    ]

    /// The type that the first save of one of its records creates.
    static let madeJustInTime: RecordType = {
        var type = RecordType()
        type.grants = usualGrants
        // Apple creates types without this index, so that a query without a filter is rejected, which most
        // developers encounter first. A deployment copies the index to production, where it would be missing
        // too.
        type.systemIndexes[SystemField.recordID.rawValue] = .queryable
        return type
    }()
}

extension FieldDefinition {
    /// The field that the first save of a value creates, or nil for a list of unknown element type.
    init?(madeFor field: Field) {
        guard let value = field.value, value.type != .unknownList else { return nil }
        let element = value.type.elementType ?? value.type
        let isEncrypted = field.isEncrypted || element == .encryptedBytes
        let type: FieldType =
            switch value.type {
            case .bytes where isEncrypted: .encryptedBytes
            case .bytesList where isEncrypted: .encryptedBytesList
            default: value.type
            }
        self.init(
            type, isEncrypted: isEncrypted,
            isNumber: !isEncrypted && (element == .int64 || element == .double)
        )
        guard element != .bytes else { return }
        indexes = possibleIndexes
    }
}
