import CloudKit
import CloudWire
import Foundation
import System
import Testing

/// A container at Apple's servers, for which `transport` stands.
func appleContainer(
    _ transport: any Transport, identifier: String = "iCloud.com.example.todo",
    environment: String = "development", execution: Execution = .inline,
    account: any CloudAccount = FixedAccount(CloudCredential(webAuthToken: "t", apiToken: "app")),
    timers: (any TimerSource)? = nil, clock: any TimeSource = SystemTimeSource()
) -> CKContainer {
    var connection = CloudConnection(
        transport: transport, execution: execution, environment: environment, account: account, timers: timers
    )
    connection.serverKind = .apple
    connection.clock = clock
    return CKContainer(identifier: identifier, connection: connection)
}

extension WireRequest {
    /// The endpoint of a request to a database or a device: `records/modify`.
    var endpoint: String {
        let parts = path.split(separator: "/").map(String.init)
        return parts.dropFirst(parts.first == "database" ? 5 : 4).joined(separator: "/")
    }

    /// The body as JSON.
    func json() throws -> [String: Any] {
        guard !body.isEmpty else { return [:] }
        return try #require(try JSONSerialization.jsonObject(with: Data(body)) as? [String: Any])
    }
}
