import CloudService
import CloudStore
import CloudWire
import HTTPServer

/// The endpoints of schemas. Changes run in the service of the environment, so that its next request uses the
/// new schema.
struct OperatorSchema: Sendable {
    enum Request: Hashable {
        case show, indexes, check, importText, change, reset, difference, deploy

        /// Endpoints of development only, by the end of the path.
        static let ofDevelopment: [String: Request] = [
            "schema/check": .check, "schema/import": .importText, "schema/change": .change,
            "schema/reset": .reset,
        ]

        /// True if its path names no environment.
        var isOfContainer: Bool { self == .difference || self == .deploy }

        var role: AdministratorRole {
            switch self {
            case .show, .indexes, .check, .difference: .look
            case .change: .change
            case .importText, .reset, .deploy: .administer
            }
        }
    }

    /// Maximum number of records that are checked for values that a new schema can't store. All other writes
    /// wait during the check.
    static let recordsMax = 10_000

    private let stores: OperatorStores
    private let folder: DataFolder

    init(_ stores: OperatorStores, _ folder: DataFolder) {
        self.stores = stores
        self.folder = folder
    }

    /// Responds to a request about schemas, asynchronously.
    func answer(_ request: OperatorRequest, _ container: CloudService.Container, _ asked: Request) throws {
        switch asked {
        case .show: try stores.read(container, request) { try $0.messages.schemaMessage(in: $1) }
        case .indexes:
            let recordType = request.head.queryValue("recordType")
            try stores.read(container, request) { try $0.messages.indexesMessage(ofType: recordType, $1) }
        case .check: try check(request, container)
        case .importText:
            try change(request, container) {
                let text = try OperatorBody(request.http.body).required("text")
                let new = try Self.schema(text)
                return { _ in new }
            }
        case .change:
            try change(request, container) {
                let values = try OperatorBody(request.http.body).list("operations")
                guard values.count <= SchemaOperation.operationsMax else {
                    throw Refusal.badRequest(
                        "a request has \(SchemaOperation.operationsMax) operations at most")
                }
                let operations = try values.map { try SchemaOperation($0) }
                return { try $0.applying(operations) }
            }
        case .difference: try showDifference(request, container)
        case .deploy: try deploy(request, container)
        case .reset: try reset(request, container)
        }
    }

    // MARK: Development

    private func check(_ request: OperatorRequest, _ container: CloudService.Container) throws {
        try work(in: container, request, nil) { service, production in
            let text = try OperatorBody(request.http.body).required("text")
            do {
                let new = try SchemaLanguage.parse(text).complete
                return .read { reader in
                    let before = try service.schemas.schema(in: reader)
                    let losses = try service.schemaMaintenance.losses(
                        from: before, to: new, production: production, recordsMax: Self.recordsMax, reader)
                    return OperatorAnswer(
                        json: .object([
                            "error": .null, "changes": JSONValue(before.changes(to: new)),
                            "losses": .array(losses.map { .string($0) }),
                        ]))
                }
            } catch let error as SchemaTextError {
                return .read { _ in OperatorAnswer(json: JSONValue(error)) }
            }
        }
    }

    /// Replaces the schema with the result of `begin`.
    ///
    /// - Parameter begin: parses the request. Called on a reader's thread of the service.
    private func change(
        _ request: OperatorRequest, _ container: CloudService.Container,
        _ begin: @escaping @Sendable () throws -> @Sendable (Schema) throws -> Schema
    ) throws {
        let line = line(.schemaChanged, request, container)
        try work(in: container, request, line) { service, production in
            let change = try begin()
            return .change(service) { before in
                let new = try change(before).complete
                let losses = production.losses(in: new, named: "the new schema")
                guard losses.isEmpty else {
                    throw SchemaRefusal(["production would lose:"] + losses)
                }
                return new
            }
        }
    }

    private func reset(_ request: OperatorRequest, _ container: CloudService.Container) throws {
        guard try OperatorBody(request.http.body).required("container") == container.identifier else {
            throw Refusal.badRequest("container is to be the name of the container, as it was typed")
        }
        let line = line(.schemaReset, request, container)
        try work(in: container, request, line) { service, production in
            .write { writer in
                let before = try service.schemas.schema(in: writer)
                try service.schemaMaintenance.reset(to: production, writer)
                return OperatorAnswer(changes: before.changes(to: production))
            }
        }
    }

    // MARK: Production

    private func showDifference(_ request: OperatorRequest, _ production: CloudService.Container) throws {
        let removes = request.head.queryValue("remove") == "1"
        try stores.take(request, in: production.identifier, nil) { completion in
            ask(production.sibling, request, completion) { development in
                guard isMade(production) else {
                    return completion(
                        Result { () throws(WireError) in
                            try plan(from: development, to: .initial, removes).answer(effects: [])
                        })
                }
                stores.ask(
                    production, request,
                    { service in
                        .read { reader in
                            let before = try service.schemas.schema(in: reader)
                            let plan = try DeploymentPlan(from: development, to: before, removes: removes)
                            return plan.answer(effects: try plan.effects(reader))
                        }
                    }, completion)
            }
        }
    }

    private func deploy(_ request: OperatorRequest, _ production: CloudService.Container) throws {
        let body = try OperatorBody(request.http.body)
        let removes = try body.flag("remove") ?? false
        let seen = try body.required("plan")
        let line = line(.schemaDeployed, request, production)
        try work(in: production, request, line) { service, development in
            .change(service) { before in
                let plan = try DeploymentPlan(from: development, to: before, removes: removes)
                guard plan.digest == seen else { throw Refusal.otherPlan }
                guard plan.deployment.refusals.isEmpty else {
                    throw SchemaRefusal(plan.deployment.refusals)
                }
                return plan.deployment.result
            }
        }
    }

    private func plan(
        from development: Schema, to production: Schema, _ removes: Bool
    ) throws(WireError) -> DeploymentPlan {
        do {
            return try DeploymentPlan(from: development, to: production, removes: removes)
        } catch {
            throw Refusal.busy
        }
    }

    // MARK: -

    /// Works in an environment's store, with the schema of the container's other environment.
    ///
    /// - Parameters:
    ///   - line: the audit line, for a change.
    ///   - begin: called on a reader's thread of the service.
    private func work(
        in container: CloudService.Container, _ request: OperatorRequest, _ line: AuditLine?,
        _ begin: @escaping @Sendable (CloudService, _ other: Schema) throws -> OperatorWork<OperatorAnswer>
    ) throws {
        try stores.take(request, in: container.identifier, line) { completion in
            ask(container.sibling, request, completion) { other in
                stores.ask(container, request, { try begin($0, other) }, completion)
            }
        }
    }

    /// Passes an environment's schema to `next`. An error ends the request. An unused environment isn't
    /// created by this.
    private func ask(
        _ container: CloudService.Container, _ request: OperatorRequest,
        _ completion: @escaping OperatorStores.Completion, then next: @escaping @Sendable (Schema) -> Void
    ) {
        guard isMade(container) else { return next(.initial) }
        stores.ask(
            container, request, { service in .read { try service.schemas.schema(in: $0) } }
        ) { (result: Result<Schema, WireError>) in
            switch result {
            case .success(let schema): next(schema)
            case .failure(let error): completion(.failure(error))
            }
        }
    }

    private func isMade(_ container: CloudService.Container) -> Bool {
        let path = try? folder.storePath(
            container: container.identifier, environment: container.environment)
        return path.map { StoreFile.exists(at: $0) } ?? false
    }

    private static func schema(_ text: String) throws -> Schema {
        do {
            return try SchemaLanguage.parse(text)
        } catch {
            throw Refusal.badRequest(error.description)
        }
    }

    private func line(
        _ action: AuditLine.Action, _ request: OperatorRequest, _ container: CloudService.Container
    ) -> AuditLine {
        var line = request.auditLine(action)
        line.container = container.identifier
        line.environment = container.environment
        return line
    }
}

extension Refusal {
    static let otherPlan = conflict(
        "one of the schemas has changed since the difference was shown; show it again")
}

extension OperatorAnswer {
    /// Maximum number of sentences in the audit log's note.
    private static let sentencesMax = 8

    /// The result of a schema change.
    fileprivate init(changes: [SchemaChange]) {
        json = .object(["changes": JSONValue(changes)])
        let rest = changes.count - Self.sentencesMax
        note =
            changes.isEmpty
            ? nil
            : changes.prefix(Self.sentencesMax).map(\.text).joined(separator: "; ")
                + (rest > 0 ? "; and \(rest) more" : "")
    }
}

extension OperatorWork<OperatorAnswer> {
    /// Replaces the schema with the result of `change`, and responds with the changes.
    fileprivate static func change(
        _ service: CloudService, _ change: @escaping @Sendable (Schema) throws -> Schema
    ) -> OperatorWork {
        .write { writer in
            let (before, after) = try service.schemaMaintenance.changeSchema(
                recordsMax: OperatorSchema.recordsMax, writer, change)
            return OperatorAnswer(changes: before.changes(to: after))
        }
    }
}

extension DeploymentPlan {
    fileprivate func answer(effects: [JSONValue]) -> OperatorAnswer {
        OperatorAnswer(
            json: .object([
                "changes": JSONValue(deployment.changes), "kept": JSONValue(deployment.kept),
                "refusals": .array(deployment.refusals.map { .string($0) }),
                "effects": .array(effects), "plan": .string(digest),
            ]))
    }
}

extension JSONValue {
    fileprivate init(_ changes: [SchemaChange]) { self = .array(changes.map { JSONValue($0) }) }

    /// The error of an invalid text.
    fileprivate init(_ error: SchemaTextError) {
        self = .object([
            "error": .object([
                "line": .count(error.line), "column": .count(error.column), "reason": .string(error.reason),
            ]), "changes": .array([]), "losses": .array([]),
        ])
    }
}
