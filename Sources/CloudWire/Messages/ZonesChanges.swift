/// The body of `zones/changes`, which Apple has replaced by `changes/database`. Only the key of the token differs.
package struct ZonesChangesRequest: Hashable, Sendable {
    /// The request for the changes of the database.
    package var changes: ChangesDatabaseRequest

    /// Makes a request.
    package init(_ changes: ChangesDatabaseRequest) { self.changes = changes }
}

/// The response of `zones/changes`.
package struct ZonesChangesResponse: Hashable, Sendable {
    /// The page of changed and deleted zones.
    package var changes: ChangesDatabaseResponse

    /// Makes a response.
    package init(_ changes: ChangesDatabaseResponse) { self.changes = changes }
}

extension ZonesChangesRequest: JSONObject, JSONMessage {
    static var blank: Self { Self(.blank) }

    var unknown: [String: JSONValue] {
        get { changes.unknown }
        set { changes.unknown = newValue }
    }

    mutating func visit(_ members: inout some JSONMembers & ~Copyable) {
        changes.visit(&members, tokenKey: "metaSyncToken")
    }
}

extension ZonesChangesResponse: JSONObject, JSONMessage {
    static var blank: Self { Self(.blank) }

    var unknown: [String: JSONValue] {
        get { changes.unknown }
        set { changes.unknown = newValue }
    }

    mutating func visit(_ members: inout some JSONMembers & ~Copyable) {
        changes.visit(&members, tokenKey: "metaSyncToken")
    }
}
