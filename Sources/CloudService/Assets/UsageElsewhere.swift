import CloudStore

/// Returns the committed usage of users in the container's other environment, because one quota applies to
/// both. Called in each write that a quota may reject.
///
/// Commits of the other environment after the call are seen by the next write only. So two simultaneous
/// transactions, one in each environment, may both use the last room, but no more than that.
package typealias UsageElsewhere = @Sendable (_ keys: [UsageKey]) -> [UsageKey: StoredSize]

extension CloudService.Container {
    /// The container's other environment.
    package var sibling: CloudService.Container {
        CloudService.Container(
            identifier: identifier,
            environment: environment == "development" ? "production" : "development")
    }
}
