/// The parsed path of a request to a container: `/database/1/{container}/{environment}/{database}/{endpoint}`, or
/// `/device/1/{container}/{environment}/{endpoint}` and `/asset/1/{container}/{environment}/{endpoint}`.
package struct ServicePath: Hashable, Sendable {
    package enum Family: String, Sendable { case database, device, asset }

    package let family: Family
    package let container: String
    package let environment: String
    /// The segment that names the database. Empty unless `family` is `.database`.
    package let database: String
    /// The rest of the path, for example `records/modify`.
    package let endpoint: String

    /// Returns nil for a path of another form. Doesn't check the names in it.
    ///
    /// - Parameter path: The path, percent-decoded once.
    package init?(_ path: String) {
        let parts = path.pathSegments(maxSplits: 6)
        guard parts.count >= 6, parts[0].isEmpty, parts[2] == "1", let family = Family(rawValue: parts[1]),
            family != .database || parts.count == 7
        else { return nil }
        self.family = family
        container = parts[3]
        environment = parts[4]
        database = family == .database ? parts[5] : ""
        endpoint = parts[(family == .database ? 6 : 5)...].joined(separator: "/")
    }

    /// True if the container has a name and the environment is one of the two.
    package var namesContainer: Bool {
        !container.isEmpty && (environment == "development" || environment == "production")
    }
}
