import CloudWire

/// Parses a schema's text. The language has one level of nesting, so the parser isn't recursive.
struct SchemaParser {
    private var lexer: SchemaLexer
    private var token = SchemaToken(kind: .end, line: 1, column: 1)
    private var fieldsCount = 0
    /// Positions of the roles named in grants, to report unknown roles.
    private var grantedRoles: [(name: String, token: SchemaToken)] = []

    init(_ text: [UInt8]) { lexer = SchemaLexer(text) }

    mutating func schema() throws(SchemaTextError) -> Schema {
        try step()
        try expect(word: "DEFINE")
        try expect(word: "SCHEMA")
        var schema = Schema()
        while token.kind != .end {
            if take(word: "CREATE") {
                try step()
                try role(into: &schema)
            } else if take(word: "RECORD") {
                try step()
                try expect(word: "TYPE")
                try recordType(into: &schema)
            } else {
                throw expected("CREATE ROLE, RECORD TYPE or the end of the text")
            }
        }
        for granted in grantedRoles
        where !SystemRole.all.contains(granted.name) && !schema.roles.contains(granted.name) {
            throw granted.token.error("there is no role '\(granted.name)': add it with CREATE ROLE")
        }
        return schema
    }

    private mutating func role(into schema: inout Schema) throws(SchemaTextError) {
        try expect(word: "ROLE")
        let place = token
        let name = try name(of: "role")
        guard !name.hasPrefix("_") else {
            throw place.error("role names that begin with '_' are reserved")
        }
        guard schema.roles.insert(name).inserted else {
            throw place.error("the role '\(name)' is defined twice")
        }
        guard schema.roles.count <= SchemaLanguage.rolesMax else {
            throw place.error("a schema has \(SchemaLanguage.rolesMax) roles at most")
        }
        try expect(symbol: ";")
    }

    private mutating func recordType(into schema: inout Schema) throws(SchemaTextError) {
        let place = token
        let name = try name(of: "record type")
        guard schema.recordTypes[name] == nil else {
            throw place.error("the record type '\(name)' is defined twice")
        }
        guard schema.recordTypes.count < SchemaLanguage.recordTypesMax else {
            throw place.error("a schema has \(SchemaLanguage.recordTypesMax) record types at most")
        }
        try expect(symbol: "(")
        var type = RecordType()
        var seen = Set<String>()
        while token.kind != Self.symbol(")") {
            if take(word: "GRANT") {
                try step()
                try grant(into: &type)
            } else {
                try field(into: &type, seen: &seen)
            }
            guard token.kind == Self.symbol(",") else { break }
            try step()
            if token.kind == Self.symbol(")") { throw expected("a field or GRANT after the comma") }
        }
        guard token.kind == Self.symbol(")") else { throw expected("',' or ')' after a field or a grant") }
        try step()
        try expect(symbol: ";")
        schema.recordTypes[name] = type
    }

    private mutating func grant(into type: inout RecordType) throws(SchemaTextError) {
        var permissions: Permissions = []
        repeat {
            let word = word()?.uppercased()
            guard let permission = Permissions.names.first(where: { $0.name == word }) else {
                throw expected("READ, CREATE or WRITE")
            }
            permissions.insert(permission.permission)
            try step()
        } while try takeSymbol(",")
        try expect(word: "TO")
        let place = token
        let name = try name(of: "role")
        grantedRoles.append((name, place))
        type.grants[name, default: []].formUnion(permissions)
    }

    private mutating func field(
        into type: inout RecordType, seen: inout Set<String>
    ) throws(SchemaTextError) {
        let place = token
        let name = try name(of: "field", or: "a field, GRANT or ')'")
        guard seen.insert(name).inserted else { throw place.error("the field '\(name)' is defined twice") }
        fieldsCount += 1
        guard fieldsCount <= SchemaLanguage.fieldsMax else {
            throw place.error("a schema has \(SchemaLanguage.fieldsMax) fields at most")
        }
        var definition = try fieldType()
        definition.indexes = try indexes(of: definition)
        if let system = SystemField(rawValue: name) {
            guard definition.type == system.type, !definition.isEncrypted, !definition.isNumber else {
                throw place.error("the field '\(name)' is the system's and a \(system.type.rawValue)")
            }
            type.systemIndexes[name] = definition.indexes.isEmpty ? nil : definition.indexes
        } else if SystemField.isReserved(name) {
            throw place.error(
                "field names that begin with '___' are reserved: "
                    + SystemField.allCases.map(\.rawValue).joined(separator: ", "))
        } else {
            type.fields[name] = definition
        }
    }

    private mutating func fieldType() throws(SchemaTextError) -> FieldDefinition {
        guard take(word: "LIST") else { return try primitiveType() }
        try step()
        try expect(symbol: "<")
        let place = token
        var definition = try primitiveType()
        guard let listType = definition.type.listType else { throw place.error("a list holds no lists") }
        definition.type = listType
        try expect(symbol: ">")
        return definition
    }

    private mutating func primitiveType() throws(SchemaTextError) -> FieldDefinition {
        let isEncrypted = take(word: "ENCRYPTED")
        if isEncrypted { try step() }
        if !isEncrypted && take(word: "NUMBER") {
            try step()
            guard take(word: "PREFERRED") else { return FieldDefinition(.double, isNumber: true) }
            try step()
            try expect(word: "AS")
            let type: FieldType? =
                switch word()?.uppercased() {
                case "INT64": .int64
                case "DOUBLE": .double
                default: nil
                }
            guard let type else { throw expected("INT64 or DOUBLE") }
            try step()
            return FieldDefinition(type, isNumber: true)
        }
        let names = isEncrypted ? SchemaTypeNames.encrypted : SchemaTypeNames.plain
        let word = word()?.uppercased()
        guard let type = names.first(where: { $0.name == word })?.type else {
            throw expected(
                isEncrypted
                    ? "a type that can be encrypted (\(SchemaTypeNames.list(names)))"
                    : "a type (\(SchemaTypeNames.list(names)), NUMBER, ENCRYPTED ... or LIST<...>)")
        }
        try step()
        return FieldDefinition(type, isEncrypted: isEncrypted)
    }

    private mutating func indexes(of definition: FieldDefinition) throws(SchemaTextError) -> FieldIndexes {
        var indexes: FieldIndexes = []
        while let word = word()?.uppercased(),
            let index = FieldIndexes.names.first(where: { $0.name == word })?.index
        {
            guard indexes.insert(index).inserted else { throw token.error("\(word) is given twice") }
            guard definition.possibleIndexes.contains(index) else {
                throw token.error("a field of type \(definition.typeName) can't be \(word)")
            }
            try step()
        }
        return indexes
    }

    // MARK: Tokens

    private static func symbol(_ character: Unicode.Scalar) -> SchemaToken.Kind {
        .symbol(UInt8(truncatingIfNeeded: character.value))
    }

    private mutating func step() throws(SchemaTextError) { token = try lexer.next() }

    private func word() -> String? { if case .word(let text) = token.kind { text } else { nil } }

    /// Consumes the word if it is next, and returns whether it was. Keywords are case-insensitive.
    private func take(word wanted: String) -> Bool { word()?.uppercased() == wanted }

    private mutating func takeSymbol(_ character: Unicode.Scalar) throws(SchemaTextError) -> Bool {
        guard token.kind == Self.symbol(character) else { return false }
        try step()
        return true
    }

    private func expected(_ what: String) -> SchemaTextError {
        token.error("expected \(what), found \(token.shown)")
    }

    private mutating func expect(word wanted: String) throws(SchemaTextError) {
        guard take(word: wanted) else { throw expected(wanted) }
        try step()
    }

    private mutating func expect(symbol wanted: Unicode.Scalar) throws(SchemaTextError) {
        guard try takeSymbol(wanted) else { throw expected("'\(Character(wanted))'") }
    }

    private mutating func name(
        of what: String, or choice: String? = nil
    ) throws(SchemaTextError) -> String {
        let place = token
        switch token.kind {
        case .quoted(let name):
            try step()
            return name
        case .word(let name):
            guard !SchemaLanguage.reservedWords.contains(name.lowercased()) else {
                throw place.error("'\(name)' is a reserved word; as a name it needs double quotes")
            }
            guard !name.hasPrefix("_") else {
                throw place.error("'\(name)' begins with '_'; such a name needs double quotes")
            }
            guard name.utf8.count <= SchemaLanguage.nameBytesMax else {
                throw place.error("a name has \(SchemaLanguage.nameBytesMax) characters at most")
            }
            try step()
            return name
        default:
            throw expected(choice ?? "the name of a \(what)")
        }
    }
}
