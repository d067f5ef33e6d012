/// Kind of a container's database. The third part of each path.
package enum DatabaseScope: String, Hashable, CaseIterable, Sendable {
    /// One for the whole container, readable by everyone.
    case `public`
    /// One for each user, seen by that user only.
    case `private`
    /// Records that other users share with the user.
    case shared
}
