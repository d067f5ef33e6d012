import CloudStore
import CloudWire
import HTTPServer

/// The endpoints that list containers with their sizes, and create them.
struct OperatorContainers: Sendable {
    /// Maximum number of containers that the dashboard creates. The list shows all of them.
    static let containersMax = 1_000

    private let control: ControlStore
    private let folder: DataFolder
    private let audit: OperatorAudit

    init(_ control: ControlStore, _ folder: DataFolder, _ audit: OperatorAudit) {
        self.control = control
        self.folder = folder
        self.audit = audit
    }

    /// Responds with the containers, and the size of the store of each environment.
    func list(_ request: OperatorRequest) throws {
        let tokens = Dictionary(grouping: try control.tokens.list(), by: \.container)
        let containers = try control.containers.list().map {
            try json($0, tokensCount: tokens[$0.identifier]?.count ?? 0)
        }
        request.reply.send(JSONValue.object(["containers": .array(containers)]))
    }

    /// Creates a container.
    func add(_ request: OperatorRequest) throws {
        let identifier = try OperatorBody(request.http.body).required("identifier")
        var line = request.auditLine(.containerAdded)
        line.container = identifier
        try audit.logging(line) {
            guard try control.containers.list().count < Self.containersMax else {
                throw Refusal.conflict(
                    "there are \(Self.containersMax) containers; create more with: yap init --container ID")
            }
            guard try control.containers.add(identifier) else {
                throw Refusal.conflict("there is a container \(identifier) already")
            }
        }
        guard let made = try control.containers.list().first(where: { $0.identifier == identifier }) else {
            throw ControlError.noSuchContainer(identifier)
        }
        request.reply.send(JSONValue.object(["container": try json(made, tokensCount: 0)]))
    }

    private func json(_ container: ControlContainer, tokensCount: Int) throws -> JSONValue {
        .members([
            "identifier": .string(container.identifier),
            "createdMilliseconds": .integer(container.createdMilliseconds),
            "tokensCount": .count(tokensCount),
            "environments": .array(
                try ["production", "development"].map { try environment($0, of: container.identifier) }),
        ])
    }

    private func environment(_ name: String, of container: String) throws -> JSONValue {
        let path = try folder.storePath(container: container, environment: name)
        let bytes = FileBytes.count(of: [path, "\(path)-wal"])
        return .members([
            "environment": .string(name), "isMade": .bool(bytes != nil), "bytes": .integer(bytes ?? 0),
        ])
    }
}
