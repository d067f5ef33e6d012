/// What tells a connection from others in its commits, which keep neither the connection nor its database alive.
final class ConnectionIdentity: Sendable {
    let name: String?

    init(name: String?) {
        self.name = name
    }
}
