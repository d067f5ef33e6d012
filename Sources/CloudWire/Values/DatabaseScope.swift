/// Which of a container's databases: the third part of every path.
package enum DatabaseScope: String, Hashable, CaseIterable, Sendable {
    /// One for the whole container, readable by everyone.
    case `public`
    /// One for each user, seen by that user only.
    case `private`
    /// What others share with the user.
    case shared
}
