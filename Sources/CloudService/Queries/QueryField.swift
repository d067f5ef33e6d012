import CloudStore
import CloudWire

/// The system fields, by their names in a schema.
enum QuerySystemField: String, CaseIterable {
    case recordID = "___recordID"
    case share = "___share"
    case parent = "___parent"
    case createdBy = "___createdBy"
    case createTime = "___createTime"
    case modifiedBy = "___modifiedBy"
    case modTime = "___modTime"
    case etag = "___etag"

    /// The name that clients use in `systemFieldName`.
    var wireName: String {
        switch self {
        case .recordID: "recordName"
        case .share: "share"
        case .parent: "parent"
        case .createdBy: "createdUserRecordName"
        case .createTime: "createdTimestamp"
        case .modifiedBy: "modifiedUserRecordName"
        case .modTime: "modifiedTimestamp"
        case .etag: "recordChangeTag"
        }
    }

    var type: FieldType {
        switch self {
        case .recordID, .share, .parent, .createdBy, .modifiedBy: .reference
        case .createTime, .modTime: .timestamp
        case .etag: .string
        }
    }

    /// Indexes of fields that the schema language has no word for. They are always queryable.
    var alwaysHas: FieldIndexes { self == .share || self == .parent ? .queryable : [] }

    /// Accepts both spellings.
    init?(named name: String) {
        if name == "___recordId" {
            self = .recordID
        } else if let field = Self(rawValue: name) ?? Self.allCases.first(where: { $0.wireName == name }) {
            self = field
        } else {
            return nil
        }
    }
}

/// A field in a query: a field of the type, or a system field.
struct QueryField: Hashable, Sendable {
    /// The name in the schema and in indexes.
    let name: String
    /// The name in error messages.
    let shownName: String
    let type: FieldType
    let indexes: FieldIndexes
    let system: QuerySystemField?

    init(name: String, definition: FieldDefinition) {
        self.name = name
        shownName = name
        type = definition.type
        indexes = definition.isEncrypted ? [] : definition.indexes
        system = nil
    }

    init(_ system: QuerySystemField, in type: RecordType) {
        name = system.rawValue
        shownName = system.wireName
        self.type = system.type
        indexes = (type.systemIndexes[system.rawValue] ?? []).union(system.alwaysHas)
        self.system = system
    }

    /// Finds the field of a filter or a sort.
    init(fieldName: String?, systemFieldName: String?, in type: RecordType) throws(WireError) {
        if let systemFieldName {
            guard let system = QuerySystemField(named: systemFieldName) else {
                throw ServiceError.badRequest("Unknown system field '\(systemFieldName)'")
            }
            self.init(system, in: type)
        } else if let fieldName, let definition = type.fields[fieldName] {
            self.init(name: fieldName, definition: definition)
        } else if let fieldName, let system = QuerySystemField(named: fieldName) {
            self.init(system, in: type)
        } else if let fieldName {
            throw ServiceError.badRequest("Unknown field '\(fieldName)'")
        } else {
            throw ServiceError.badRequest(
                "a filter or sort names no field: fieldName or systemFieldName is missing")
        }
    }

    /// Returns all indexed fields of a type, ordered by name.
    static func indexed(of type: RecordType) -> [QueryField] {
        let own = type.fields.map { QueryField(name: $0.key, definition: $0.value) }
        let system = QuerySystemField.allCases.map { QueryField($0, in: type) }
        return (own + system).filter { !$0.indexes.isEmpty }.sorted { $0.name < $1.name }
    }

    /// The compared type: that of a list's elements, or of the value.
    var elementType: FieldType { type.elementType ?? type }

    /// True if the value is only a name: of a record in the same zone, or of a user.
    var isPlainName: Bool { system?.type == .reference }
}

/// A record as queries evaluate it.
struct QuerySubject {
    let row: StoredRecord
    let fields: [String: Field]
    private let known = Known()

    /// Cached values of large fields. Many conditions check the same record, and recomputing the values each
    /// time would take too long.
    private final class Known {
        var words: [String: Set<String>] = [:]
        var elements: [String: [[UInt8]]] = [:]
        var elementSets: [String: Set<[UInt8]>] = [:]
    }

    init(row: StoredRecord, fields: [String: Field]) {
        self.row = row
        self.fields = fields
    }

    /// - Throws: `BinaryError` if the fields can't be read.
    init(row: StoredRecord) throws {
        self.init(row: row, fields: try FieldsBinary.decode(row.fields))
    }

    /// Returns the ordered bytes of a field that isn't a list, or nil if it has no value.
    func value(of field: QueryField) -> [UInt8]? {
        if let system = field.system { return value(of: system) }
        guard let value = fields[field.name]?.value else { return nil }
        return OrderedBytes.value(value, of: field.type, in: row.key.zone)
    }

    /// Returns the ordered bytes of a list's elements.
    func elements(of field: QueryField) -> [[UInt8]] {
        if let known = known.elements[field.name] { return known }
        guard let elementType = field.type.elementType, case .list(_, let values) = fields[field.name]?.value
        else { return [] }
        let elements = values.compactMap { OrderedBytes.value($0, of: elementType, in: row.key.zone) }
        known.elements[field.name] = elements
        return elements
    }

    /// Returns the elements as a set, to test membership.
    func elementSet(of field: QueryField) -> Set<[UInt8]> {
        if let known = known.elementSets[field.name] { return known }
        let elements = Set(elements(of: field))
        known.elementSets[field.name] = elements
        return elements
    }

    /// Returns true if the field has a list, even an empty one.
    func hasList(_ field: QueryField) -> Bool {
        if case .list = fields[field.name]?.value { true } else { false }
    }

    func words(of field: QueryField) -> Set<String> {
        if let known = known.words[field.name] { return known }
        let words: Set<String> =
            switch fields[field.name]?.value {
            case .string(let text) where field.type == .string: Words.of(CollectionOfOne(text))
            case .list(_, let values) where field.type == .stringList:
                Words.of(values.lazy.compactMap { if case .string(let text) = $0 { text } else { nil } })
            default: []
            }
        known.words[field.name] = words
        return words
    }

    func place(of field: QueryField) -> Place? {
        guard case .location(let location) = fields[field.name]?.value else { return nil }
        return Place(location)
    }

    private func value(of system: QuerySystemField) -> [UInt8]? {
        switch system {
        case .recordID: OrderedBytes.text(row.key.recordName)
        case .share: nil
        case .parent: row.parent.map(OrderedBytes.text)
        case .createdBy: OrderedBytes.text(row.created.userRecordName)
        case .createTime: OrderedBytes.number(row.created.timestampMilliseconds)
        case .modifiedBy: OrderedBytes.text(row.modified.userRecordName)
        case .modTime: OrderedBytes.number(row.modified.timestampMilliseconds)
        case .etag: OrderedBytes.text(row.changeTag)
        }
    }
}
