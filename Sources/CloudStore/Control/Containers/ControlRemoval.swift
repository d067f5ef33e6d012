/// A container, or one environment of it, that is being removed. Requests to it are rejected.
package struct ControlRemoval: Hashable, Sendable {
    /// Unique number of the removal. A later removal of a container with the same name has another one.
    let number: Int64
    /// Identifier of the container.
    package let container: String
    /// The environment that is removed, or nil for the whole container.
    package let environment: String?

    /// Names of the environments that are removed.
    package var environments: [String] { environment.map { [$0] } ?? ["development", "production"] }

    /// Returns true if the removal includes this environment.
    package func covers(_ container: String, _ environment: String) -> Bool {
        container == self.container && environments.contains(environment)
    }
}
