import CloudService
import CloudStore
import CloudWire
import HTTPServer

/// The endpoints that count an environment's rows and pending work, and list the devices that receive pushes.
struct OperatorCounts: Sendable {
    enum Request: Hashable {
        case records, devices, backlog
    }

    private let stores: OperatorStores

    init(_ stores: OperatorStores) { self.stores = stores }

    /// Responds to a request about an environment, asynchronously.
    func answer(_ request: OperatorRequest, _ container: CloudService.Container, _ asked: Request) throws {
        let user = try request.user
        switch asked {
        case .records:
            let database = user.map { StoredDatabaseKey.privateDatabase(of: $0) } ?? .publicDatabase
            try stores.read(container, request) { try $0.messages.countsMessage(in: database, $1) }
        case .devices:
            guard let user else {
                throw Refusal.badRequest("devices needs the query item user, the record name of a user")
            }
            try stores.read(container, request) { try $0.messages.devicesMessage(of: user, $1) }
        case .backlog: try stores.read(container, request) { try $0.messages.backlogMessage($1) }
        }
    }
}
