/// A property that was probably renamed without an `upgrade`: no stored object has it, and stored objects have another
/// one that the type doesn't know.
///
/// ```swift
/// let database = try YapDatabase(url: url) { $0.register(Todo.self, inCollection: "todos") }
/// for warning in database.modelWarnings { log("\(warning)") }
/// ```
public struct YapDatabaseModelWarning: Hashable, Sendable, CustomStringConvertible {
    /// The collection of the objects.
    public let collection: String
    /// The name of the registered type.
    public let typeName: String
    /// The property that no stored object has.
    public let property: String
    /// The stored properties that may be the former name of `property`, in the order of their names.
    public let formerNames: [String]

    /// The collection, the property, and what to do, in one line.
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
    /// Writes each to the standard error, a line each.
    /// - Returns: true, so that it can be the condition of an assertion: only debug builds write.
    func areWritten() -> Bool {
        for warning in self { StandardError.write("Yap: \(warning)") }
        return true
    }
}
