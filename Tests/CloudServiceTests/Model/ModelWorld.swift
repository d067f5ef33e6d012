import CloudStore
import CloudWire
import System

@testable import CloudService

/// What a run begins with: an empty environment in development, one with roles, or one in production.
struct ModelWorld {
    let environment: String
    let model: ModelSchema
    private let schema: Schema?

    init(_ generator: ModelGenerator) {
        let kind = generator.random.next(in: 0..<4)
        environment = kind == 3 ? "production" : "development"
        var model = ModelSchema()
        guard kind > 1 else {
            self.model = model
            schema = nil
            return
        }
        var schema = Schema.initial
        schema.roles = ["editor"]
        model.mayGrow = kind == 2
        model.roles = ["_bob": ["editor"]]
        let known: [(String, FieldDefinition)] = [
            ("n", FieldDefinition(.int64)), ("s", FieldDefinition(.string)), ("d", FieldDefinition(.double)),
            ("t", FieldDefinition(.timestamp)),
            ("secret", FieldDefinition(.encryptedBytes, isEncrypted: true)),
            ("target", FieldDefinition(.reference)), ("targets", FieldDefinition(.referenceList)),
        ]
        for name in ["todo", "note"] {
            var type = RecordType()
            var kinds: [String: ModelSchema.Kind] = [:]
            for (field, definition) in known where generator.chance(85) {
                var definition = definition
                let indexes = definition.isEncrypted ? [] : Self.indexes(generator, definition.type)
                definition.indexes = Self.indexes(indexes)
                type.fields[field] = definition
                kinds[field] = .init(
                    type: definition.type, isEncrypted: definition.isEncrypted, indexes: indexes)
            }
            let named = Self.indexes(generator, .reference)
            type.systemIndexes["___recordID"] = Self.indexes(named)
            model.systemIndexes[name] = ["recordName": named]
            type.grants = RecordType.usualGrants
            if generator.chance(70) { type.grants = Self.grants(generator) }
            model.types[name] = kinds
            model.grants[name] = type.grants.mapValues { granted in
                var permissions: Set<ModelSchema.Permission> = []
                if granted.contains(.read) { permissions.insert(.read) }
                if granted.contains(.create) { permissions.insert(.create) }
                if granted.contains(.write) { permissions.insert(.write) }
                return permissions
            }
            schema.recordTypes[name] = type
        }
        self.model = model
        self.schema = schema
    }

    /// Some of the indexes that a field of the type can have.
    static func indexes(_ generator: ModelGenerator, _ type: FieldType) -> Set<ModelSchema.Index> {
        let possible = ModelSchema.possible(type)
        return Set(ModelSchema.Index.allCases.filter { possible.contains($0) && generator.chance(70) })
    }

    static func indexes(_ indexes: Set<ModelSchema.Index>) -> FieldIndexes {
        var all: FieldIndexes = []
        if indexes.contains(.queryable) { all.insert(.queryable) }
        if indexes.contains(.sortable) { all.insert(.sortable) }
        if indexes.contains(.searchable) { all.insert(.searchable) }
        return all
    }

    private static func grants(_ generator: ModelGenerator) -> [String: Permissions] {
        var grants: [String: Permissions] = [:]
        for role in ["_world", "_icloud", "_creator", "editor"] {
            var granted: Permissions = []
            for permission in [Permissions.read, .create, .write] where generator.chance(40) {
                granted.formUnion(permission)
            }
            if !granted.isEmpty { grants[role] = granted }
        }
        return grants
    }

    /// Writes the schema and the roles, as a deployment has done before.
    func prepare(_ store: any CloudStore) throws {
        guard let schema else { return }
        var changes = StoreChanges()
        changes.schema = schema.row(version: 1)
        changes.roles = [UserRolesRow(user: "_bob", roles: ["editor"])]
        try store.write { try $0.apply(changes) }
    }
}
