import CloudService
import CloudStore
import CloudWire

/// The body of a request to the operator API: an object, mostly of texts.
struct OperatorBody {
    private let members: [String: JSONValue]

    /// - Throws: a `WireError` if it isn't a JSON object.
    init(_ bytes: [UInt8]) throws {
        do {
            guard case .object(let members) = try JSONValue(json: bytes.isEmpty ? Array("{}".utf8) : bytes)
            else { throw Refusal.badRequest("the body is no object") }
            self.members = members
        } catch let error as JSONError {
            throw error.wireError
        }
    }

    /// Returns the text member `name`, or nil if it is missing.
    func text(_ name: String) -> String? {
        if case .string(let text)? = members[name] { text } else { nil }
    }

    /// Returns the text member `name`.
    ///
    /// - Throws: a `WireError` if it is missing.
    func required(_ name: String) throws(WireError) -> String {
        guard let text = text(name) else { throw Refusal.badRequest("the body has no text \"\(name)\"") }
        return text
    }

    /// Returns the text member `name`, or nil if it is missing or empty.
    ///
    /// - Throws: `WireError` for a member of another type.
    func nonempty(_ name: String) throws(WireError) -> String? {
        guard let text = try optional(name), !text.isEmpty else { return nil }
        return text
    }

    /// Returns the text member `name`, or nil if it is missing.
    ///
    /// - Throws: `WireError` for a member of another type.
    func optional(_ name: String) throws(WireError) -> String? {
        switch members[name] {
        case nil, .null?: return nil
        case .string(let text)?: return text
        default: throw Refusal.badRequest("\"\(name)\" is no text")
        }
    }

    /// Returns the list of texts `name`, or nil if it is missing.
    ///
    /// - Throws: `WireError` for a member of another type.
    func texts(_ name: String) throws(WireError) -> [String]? {
        guard let value = members[name], value != .null else { return nil }
        guard let texts = value.texts else { throw Refusal.badRequest("\"\(name)\" is no list of texts") }
        return texts
    }

    /// Returns the list `name`.
    ///
    /// - Throws: a `WireError` if it isn't a list.
    func list(_ name: String) throws(WireError) -> [JSONValue] {
        guard case .array(let values)? = members[name] else {
            throw Refusal.badRequest("the body has no list \"\(name)\"")
        }
        return values
    }

    /// Returns the Boolean member `name`, or nil if it is missing.
    ///
    /// - Throws: `WireError` for a member of another type.
    func flag(_ name: String) throws(WireError) -> Bool? {
        switch members[name] {
        case nil, .null?: return nil
        case .bool(let flag)?: return flag
        default: throw Refusal.badRequest("\"\(name)\" is neither true nor false")
        }
    }

    /// - Throws: a `WireError` if it isn't an environment.
    func environment() throws(WireError) -> String {
        let environment = try required("environment")
        guard ["development", "production"].contains(environment) else {
            throw Refusal.badRequest("environment is development or production")
        }
        return environment
    }

    /// - Throws: a `WireError` if it isn't a role.
    func role() throws(WireError) -> AdministratorRole {
        guard let role = AdministratorRole(rawValue: try required("role")) else {
            throw Refusal.badRequest(
                "role is one of \(AdministratorRole.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return role
    }
}

extension JSONValue {
    /// Returns an object without the members that are nil.
    static func members(_ members: [String: JSONValue?]) -> JSONValue {
        .object(members.compactMapValues(\.self))
    }

    static func text(_ text: String?) -> JSONValue? { text.map { .string($0) } }

    /// The texts of a list, or nil if it contains other values.
    var texts: [String]? {
        guard case .array(let values) = self else { return nil }
        let texts = values.compactMap { if case .string(let text) = $0 { text } else { String?.none } }
        return texts.count == values.count ? texts : nil
    }

    static func count(_ count: Int) -> JSONValue { .integer(Int64(count)) }

    init(_ administrator: Administrator) {
        self = .members([
            "name": .string(administrator.name), "role": .string(administrator.role.rawValue),
            "hasPassword": .bool(administrator.passwordHash != nil),
            "createdMilliseconds": .integer(administrator.createdMilliseconds),
        ])
    }

    init(_ entry: AdministratorEntry, isSelf: Bool) {
        guard case .object(var members) = JSONValue(entry.administrator) else { preconditionFailure() }
        members["sessionsCount"] = .count(entry.sessionsCount)
        members["lastMilliseconds"] = entry.lastMilliseconds.map { .integer($0) }
        members["isSelf"] = .bool(isSelf)
        self = .object(members)
    }

    init(_ session: AdministratorSession, isCurrent: Bool) {
        self = .members([
            "session": .string(session.id), "administrator": .string(session.administrator.name),
            "createdMilliseconds": .integer(session.createdMilliseconds),
            "lastMilliseconds": .integer(session.lastMilliseconds), "address": .string(session.address),
            "client": .text(session.client), "isCurrent": .bool(isCurrent),
        ])
    }

    init(_ line: AuditLine) {
        self = .members([
            "number": .integer(line.number), "timeMilliseconds": .integer(line.timeMilliseconds),
            "administrator": .string(line.administrator), "role": .string(line.role),
            "address": .string(line.address), "action": .string(line.action.rawValue),
            "outcome": .string(line.outcome.rawValue), "container": .text(line.container),
            "environment": .text(line.environment), "database": .text(line.database),
            "user": .text(line.user), "zone": .text(line.zone),
            "names": .array(line.names.map { .string($0) }), "count": .count(line.count),
            "requestID": .text(line.requestID), "note": .text(line.note),
        ])
    }
}
