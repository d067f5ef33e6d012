import CloudService
import CloudStore
import CloudWire
import Testing

/// Who may do what in the public database.
@Suite struct RoleTests {
    /// A type whose records bob makes, with a grant of one permission to one role.
    private static func cloud(
        _ permission: String?, to role: String
    ) throws -> (cloud: TestService, tag: String?) {
        let grant = permission.map { "GRANT \($0) TO \"\(role)\"" } ?? ""
        let open =
            "DEFINE SCHEMA CREATE ROLE editor; RECORD TYPE T (a INT64, GRANT CREATE, WRITE TO \"_icloud\");"
        let cloud = try TestService(environment: "development", schema: open)
        let made = try cloud.modify(
            [operation(.create, "bobs", type: "T", ["a": Field(.int64(1))])], zone: nil, database: "public",
            token: "bob")
        let schema = try SchemaLanguage.parse(
            "DEFINE SCHEMA CREATE ROLE editor; RECORD TYPE T (a INT64\(grant.isEmpty ? "" : ", " + grant));")
        try cloud.service.schemaMaintenance.changeSchema { _ in schema }
        if role == "editor" {
            _ = try cloud.service.schemaMaintenance.setRole("editor", ofUser: "_ada", isAssigned: true)
        }
        return (cloud, made[0].record?.recordChangeTag)
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let role: String
        let permission: String?
        /// Who asks; bob made the record.
        let user: String?
        /// What a lookup, a create, an update and a delete come to.
        let outcomes: [String]
        var testDescription: String { "\(user ?? "nobody") with \(permission ?? "nothing") to \(role)" }
    }

    private static let denied = "ACCESS_DENIED"
    static let rows: [Row] = {
        var rows: [Row] = []
        for role in ["_world", "_icloud", "_creator", "editor"] {
            for permission in [nil, "READ", "CREATE", "WRITE"] as [String?] {
                for user in [nil, "ada", "bob"] as [String?] {
                    let holds =
                        switch role {
                        case "_world": true
                        case "_icloud": user != nil
                        // Of bob's record bob; of a new one whoever makes it.
                        case "_creator": user == "bob"
                        default: user == "ada"
                        }
                    let reads = holds && permission == "READ"
                    let creates = (holds || role == "_creator" && user != nil) && permission == "CREATE"
                    let writes = holds && permission == "WRITE"
                    let change = writes ? "saved" : reads ? denied : "NOT_FOUND"
                    rows.append(
                        Row(
                            role: role, permission: permission, user: user,
                            outcomes: [
                                reads ? "saved" : "NOT_FOUND", creates ? "saved" : denied, change,
                                writes ? "deleted" : reads ? denied : "NOT_FOUND",
                            ]))
                }
            }
        }
        return rows
    }()

    @Test(arguments: rows) func aGrantGivesItsPermissionToItsRoleAndNothingElse(_ row: Row) throws {
        let (cloud, tag) = try Self.cloud(row.permission, to: row.role)
        var found = [
            try cloud.lookup(["bobs"], zone: nil, database: "public", token: row.user).summaries[0]
        ]
        // Who isn't signed in changes nothing, whatever is granted.
        guard row.user != nil else {
            #expect(found == [row.outcomes[0]])
            let error = try #require(throws: WireError.self) {
                try cloud.modify(
                    [operation(.create, "new", type: "T")], zone: nil, database: "public", token: nil)
            }
            #expect(error.serverErrorCode == .authenticationRequired)
            return
        }
        for operation in [
            operation(.create, "new", type: "T"),
            operation(.update, "bobs", tag: tag, type: "T", ["a": Field(.int64(2))]),
        ] {
            found += try cloud.modify([operation], zone: nil, database: "public", token: row.user).summaries
        }
        found += try cloud.modify(
            [operation(.delete, "bobs", type: "T")], zone: nil, database: "public", token: row.user
        ).summaries
        #expect(found == row.outcomes)
    }

    @Test func whoMayWriteAndNotReadSeesOnlyWhatTheySent() throws {
        let cloud = try Self.cloud("WRITE", to: "_icloud").cloud
        try cloud.service.schemaMaintenance.changeSchema { schema in
            var schema = schema
            schema.recordTypes["T"]?.fields["b"] = FieldDefinition(.int64)
            return schema
        }
        let result = try cloud.modify(
            [operation(.forceUpdate, "bobs", type: "T", ["b": Field(.int64(2))])], zone: nil,
            database: "public")[0]
        #expect(result.record?.fields.keys.sorted() == ["b"])
        let stale = try cloud.modify(
            [operation(.update, "bobs", tag: "old", type: "T")], zone: nil, database: "public")[0]
        #expect(stale.error?.serverErrorCode == .conflict && stale.error?.serverRecord == nil)
        let taken = try cloud.modify(
            [operation(.create, "bobs", type: "T")], zone: nil, database: "public")[0]
        #expect(taken.error?.serverErrorCode == .conflict && taken.error?.serverRecord == nil)
    }

    @Test func aRoleThatTheSchemaOrTheUserNoLongerHasGivesNothing() throws {
        let cloud = try Self.cloud("READ", to: "editor").cloud
        func lookup() throws -> String {
            try cloud.lookup(["bobs"], zone: nil, database: "public").summaries[0]
        }
        #expect(try lookup() == "saved")
        #expect(try cloud.service.schemaMaintenance.setRole("editor", ofUser: "_ada", isAssigned: false))
        #expect(try !cloud.service.schemaMaintenance.setRole("editor", ofUser: "_ada", isAssigned: false))
        #expect(try lookup() == "NOT_FOUND")
        #expect(try cloud.service.schemaMaintenance.setRole("editor", ofUser: "_ada", isAssigned: true))
        #expect(try cloud.service.schemaMaintenance.userRoles().map(\.roles) == [["editor"]])
        try cloud.service.schemaMaintenance.changeSchema { schema in
            var schema = schema
            schema.roles = []
            schema.recordTypes["T"]?.grants = [:]
            return schema
        }
        #expect(try lookup() == "NOT_FOUND")
        #expect(throws: SchemaRefusal.self) {
            try cloud.service.schemaMaintenance.setRole("editor", ofUser: "_bob", isAssigned: true)
        }
    }

    @Test func aSubscriberWithoutReadPermissionIsNotNotified() throws {
        let cloud = try TestService(
            environment: "development",
            schema: """
                DEFINE SCHEMA CREATE ROLE editor;
                RECORD TYPE T ("___recordID" REFERENCE QUERYABLE, GRANT READ, CREATE, WRITE TO editor);
                """)
        _ = try cloud.service.schemaMaintenance.setRole("editor", ofUser: "_ada", isAssigned: true)
        for user in ["ada", "bob"] { try cloud.watch(type: "T", database: "public", user: user) }
        try cloud.change(
            [operation(.create, "x", type: "T")], from: "phone", zone: nil, database: "public")
        #expect(try cloud.collection("ada").map(\.summary) == ["watch:x+"])
        #expect(try cloud.collection("bob").isEmpty)
    }

    @Test func inAPrivateDatabaseItsOwnerDecides() throws {
        let cloud = try Self.cloud(nil, to: "_world").cloud
        try cloud.zones(.create)
        #expect(try cloud.modify([operation(.create, "mine", type: "T")]).summaries == ["saved"])
        #expect(try cloud.lookup(["mine"]).summaries == ["saved"])
        #expect(try cloud.modify([operation(.delete, "mine", type: "T")]).summaries == ["deleted"])
    }

    @Test func whatADeletionTakesAlongNeedsNoPermissionOfItsOwn() throws {
        let cloud = TestService()
        try cloud.modify([operation(.create, "list")], zone: nil, database: "public")
        try cloud.modify(
            [operation(.create, "item", ["list": reference("list", .deleteSelf)])], zone: nil,
            database: "public", token: "bob")
        #expect(
            try cloud.modify([operation(.delete, "item")], zone: nil, database: "public").summaries
                == ["ACCESS_DENIED"])
        #expect(
            try cloud.modify([operation(.delete, "list")], zone: nil, database: "public").summaries
                == ["deleted"])
        #expect(
            try cloud.lookup(["item"], zone: nil, database: "public", token: "bob").summaries
                == ["NOT_FOUND"])
    }

    @Test func aUsersOwnRecordIsThereBeforeAnybodyHasSavedIt() throws {
        let cloud = TestService()
        let first = try #require(
            try cloud.lookup(["_ada"], zone: nil, database: "public")[0].record)
        #expect(first.recordType == "Users" && first.fields == [:] && first.recordChangeTag != nil)
        #expect(
            try cloud.lookup(["_ada"], zone: nil, database: "public", token: "bob").summaries == ["NOT_FOUND"]
        )
        let stolen = try cloud.modify(
            [operation(.create, "_bob", type: "todo"), operation(.create, "_carl", type: "Users")], zone: nil,
            database: "public")
        #expect(stolen.summaries == ["BAD_REQUEST", "ACCESS_DENIED"])
        #expect(stolen[1].error?.reason == "CREATE operation not permitted")
        let saved = try cloud.modify(
            [
                operation(
                    .update, "_ada", tag: first.recordChangeTag, type: nil, ["name": Field(.string("Ada"))])
            ], zone: nil, database: "public")[0]
        #expect(saved.record?.recordType == "Users" && saved.record?.created?.timestampMilliseconds != 0)
        let others = try cloud.lookup(["_ada"], zone: nil, database: "public", token: "bob")[0]
        #expect(others.record?.fields["name"]?.value == .string("Ada"), "it is for all to read")
        for kind in [RecordOperation.Kind.forceUpdate, .forceDelete] {
            let denied = try cloud.modify(
                [operation(kind, "_ada", type: "Users")], zone: nil, database: "public", token: "bob")
            #expect(denied.summaries == ["ACCESS_DENIED"])
        }
        #expect(
            try cloud.modify([operation(.forceDelete, "_ada", type: "Users")], zone: nil, database: "public")
                .summaries == ["ACCESS_DENIED"])
        #expect(
            try cloud.service.schemaMaintenance.currentSchema().recordTypes["Users"]?.fields["name"]?.type
                == .string)
    }
}
