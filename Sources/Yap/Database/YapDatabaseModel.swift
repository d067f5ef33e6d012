/// A stored type with initial values for its properties. If all properties of a struct have a default, it only has to
/// declare the conformance.
///
/// A property that a stored object lacks, because an earlier version of the app stored it, has its value from
/// `init()`. An absent optional property is nil.
///
/// ```swift
/// struct Bookmark: YapDatabaseModel {
///     var title = ""
///     var note = ""  // new in version 2 of the app
/// }
/// ```
public protocol YapDatabaseModel: Codable, Sendable {
    /// Creates an object with the initial values of its properties.
    init()
}
