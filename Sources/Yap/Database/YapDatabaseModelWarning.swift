/// A property that was probably renamed without an `upgrade`: no stored object has it, and stored objects have
/// another property that the type lacks.
///
/// ```swift
/// let database = try YapDatabase(url: url) { $0.register(Todo.self, inCollection: "todos") }
/// for warning in database.modelWarnings { print(warning) }
/// ```
public struct YapDatabaseModelWarning: Hashable, Sendable, CustomStringConvertible {
    /// Collection of the objects.
    public let collection: String
    /// Name of the registered type.
    public let typeName: String
    /// The property that no stored object has.
    public let property: String
    /// Stored properties that may be the former name of `property`, sorted.
    public let formerNames: [String]

    /// The collection, the property, and the suggested change, in one line.
    public var description: String {
        let names = formerNames.map { "'\($0)'" }.joined(separator: " and ")
        let former = formerNames.first ?? ""
        return
            "collection \"\(collection)\": no stored object has '\(property)' of \(typeName), and they have \(names), "
            + "which \(typeName) doesn't know. If '\(property)' is a new name, register a higher version: with "
            + "old.rename(\"\(former)\", to: \"\(property)\") in upgrade. If '\(former)' was removed, with "
            + "old.remove(\"\(former)\")"
    }
}

extension [YapDatabaseModelWarning] {
    /// Prints each warning to the standard error.
    /// - Returns: True, so that it can be the condition of an assertion: only debug builds print.
    func areWritten() -> Bool {
        for warning in self { StandardError.write("Yap: \(warning)") }
        return true
    }
}
