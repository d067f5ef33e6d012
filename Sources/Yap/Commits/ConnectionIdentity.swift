/// Identifies a connection in its commits, and keeps neither the connection nor its database alive.
final class ConnectionIdentity: Sendable {
    let name: String?

    init(name: String?) {
        self.name = name
    }
}
