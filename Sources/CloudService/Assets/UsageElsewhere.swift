import CloudStore

/// Tells what users have in the container's other environment, as it is committed there: one quota holds for both.
/// Asked in each write that a quota decides about.
///
/// What the other commits between the question and this one's commit is told to the next write only. So two
/// transactions of the same moment, one in each environment, may both take the last room; never more than that.
public typealias UsageElsewhere = @Sendable (_ keys: [UsageKey]) -> [UsageKey: StoredSize]

extension CloudService.Container {
    /// The container's other environment.
    package var sibling: CloudService.Container {
        CloudService.Container(
            identifier: identifier,
            environment: environment == "development" ? "production" : "development")
    }
}
