import CloudWire

extension Schema {
    /// The type of the users' own records, which every schema has.
    public static let usersTypeName = "Users"

    /// What an environment begins with: the users' records, as Apple's have them.
    public static let initial: Schema = {
        var schema = Schema()
        schema.recordTypes[usersTypeName] = .users
        return schema
    }()
}

extension RecordType {
    /// The users' records: everybody reads them, and each user writes their own.
    static let users: RecordType = {
        var type = RecordType()
        type.fields["roles"] = FieldDefinition(.int64List)
        type.grants = [SystemRole.creator: .write, SystemRole.world: .read]
        return type
    }()

    /// Permissions for records of a type without any of its own: everybody reads, signed-in users make records, and the
    /// creator changes them.
    static let usualGrants: [String: Permissions] = [
        SystemRole.creator: .write, SystemRole.signedIn: .create, SystemRole.world: .read,
    ]

    /// A type as the first save of one of its records makes it.
    static let madeJustInTime: RecordType = {
        var type = RecordType()
        type.grants = usualGrants
        // Apple's types begin without: then a query without a filter is refused, which everybody meets first. A deploy
        // carries it to production, where it would be missed too.
        type.systemIndexes[SystemField.recordID.rawValue] = .queryable
        return type
    }()
}

extension FieldDefinition {
    /// The field that the first save of a value makes, or nil for a list of unknown element type.
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
