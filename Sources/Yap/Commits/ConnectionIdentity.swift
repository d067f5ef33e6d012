/// Identifies a connection in its commits, without keeping the connection or its database alive.
final class ConnectionIdentity: Sendable {
    let name: String?

    init(name: String?) {
        self.name = name
    }
}
