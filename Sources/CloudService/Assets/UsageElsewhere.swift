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

extension CloudService {
    /// Counts what the users have in the other environment to what was loaded of them.
    func addUsageElsewhere(of keys: [UsageKey], to loaded: inout StoreLoaded) {
        guard let usageElsewhere, !keys.isEmpty else { return }
        for (key, size) in usageElsewhere(keys) {
            loaded.usage[key, default: UsageRow(key: key)].size += size
        }
    }
}
