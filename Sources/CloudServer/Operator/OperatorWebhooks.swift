import CloudService
import CloudStore
import CloudWire
import HTTPServer

/// The endpoints of webhooks. None adds one: a webhook may name an address in the server's own network, so
/// adding one requires access to the server's files.
struct OperatorWebhooks: Sendable {
    enum Request: Hashable {
        case list, remove

        var role: AdministratorRole { self == .list ? .look : .administer }
    }

    private let stores: OperatorStores

    init(_ stores: OperatorStores) { self.stores = stores }

    /// Responds to a request about the webhooks of an environment, asynchronously.
    func answer(_ request: OperatorRequest, _ container: CloudService.Container, _ asked: Request) throws {
        switch asked {
        case .list:
            try stores.read(container, request) { _, reader in
                .object(["webhooks": .array(try reader.notificationReader.webhooks().map { JSONValue($0) })])
            }
        case .remove: try remove(request, container)
        }
    }

    private func remove(_ request: OperatorRequest, _ container: CloudService.Container) throws {
        let name = try OperatorBody(request.http.body).required("name")
        var line = request.auditLine(.webhookRemoved)
        line.container = container.identifier
        line.environment = container.environment
        line.names = [name]
        line.count = 1
        try stores.take(request, in: container.identifier, line) { completion in
            stores.ask(
                container, request,
                { service in
                    .write { writer in
                        guard try service.webhooks.remove(named: name, writer) else {
                            throw Refusal.noSuch("webhook", name)
                        }
                        return OperatorAnswer(json: .object([:]))
                    }
                }, completion)
        }
    }
}

extension JSONValue {
    /// A webhook without its signing secret.
    fileprivate init(_ webhook: WebhookRow) {
        self = .members([
            "name": .string(webhook.name), "url": .string(webhook.url),
            "database": webhook.scope.map { .string($0 == .publicDatabase ? "public" : "private") },
            "recordType": .text(webhook.recordType), "waiting": .integer(webhook.waitingCount),
            "delivered": .integer(webhook.deliveredCount), "failed": .integer(webhook.failedCount),
            "abandoned": .integer(webhook.abandonedCount), "dropped": .integer(webhook.droppedCount),
            "lastResult": .text(webhook.lastResult.isEmpty ? nil : webhook.lastResult),
            "lastMilliseconds": webhook.lastMilliseconds == 0 ? nil : .integer(webhook.lastMilliseconds),
        ])
    }
}
