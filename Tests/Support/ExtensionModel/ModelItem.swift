/// An object with a property for each kind of extension.
package struct ModelItem: Codable, Sendable, Equatable {
    /// The collection of the items.
    package static let collection = "items"
    /// The names that items have.
    package static let words = ["ant", "bee", "cow", "dog"]

    /// What is indexed and searched.
    package var name: String
    /// Its group in the view; nil: none, and no vector.
    package var group: Int?
    /// Its order in the view. No two items have one, so that the order is known.
    package var x: Double
    /// Key of the item to which its edge leads.
    package var parent: String?
    /// So many bytes that a few rows are a batch.
    package var filler = ""
}
