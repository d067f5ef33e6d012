import Yap
import YapCloudKit

/// What a version of the app makes of its notes.
protocol NoteModel: CloudModel {
    /// The version under which the collection is registered.
    static var version: Int { get }
    /// Changes what an earlier version stored.
    static func upgrade(_ old: inout YapDatabaseStoredObject) throws
    /// Sets a field by its name in the cloud, in a form that says which edit it was.
    mutating func set(_ field: String, to number: Int)
    /// All values, by their names in the cloud.
    var values: [String: String] { get }
}

extension NoteModel {
    static var version: Int { 1 }
    static func upgrade(_ old: inout YapDatabaseStoredObject) throws {}
}
