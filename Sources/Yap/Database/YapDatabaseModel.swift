/// A stored type that says with what values an object begins. A struct whose properties all have a default only has to
/// name the protocol.
///
/// A property that a stored object lacks, because an earlier version of the app stored it, has its value from `init()`.
/// An optional property that is absent is nil.
///
/// ```swift
/// struct Bookmark: YapDatabaseModel {
///     var title = ""
///     var note = ""  // new in version 2 of the app
/// }
/// ```
public protocol YapDatabaseModel: Codable, Sendable {
    /// An object with the values with which its properties begin.
    init()
}
