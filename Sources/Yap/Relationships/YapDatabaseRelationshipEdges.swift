import System

/// An object that has edges to other rows or to files.
///
/// ```swift
/// extension Player: YapDatabaseRelationshipNode {
///     func edges(from source: YapCollectionKey) -> [YapDatabaseEdge] {
///         let team = YapDatabaseEdgeDestination.row(teamKey, in: "teams")
///         return [YapDatabaseEdge("team", from: source, to: team, rules: .notifyIfDestinationDeleted)]
///     }
/// }
/// ```
public protocol YapDatabaseRelationshipNode: Sendable {
    /// Returns the edges of the object, up to 100,000. They replace its edges each time that it is stored.
    ///
    /// - Parameter source: The row of the object, at which each edge begins.
    func edges(from source: YapCollectionKey) -> [YapDatabaseEdge]
}

/// A property that contains the keys of rows: `String`, `String?`, arrays and sets of texts. An app's own type of
/// keys may conform.
public protocol YapDatabaseEdgeKeys: Sendable {
    /// The keys. Empty if there are none.
    var edgeKeys: [String] { get }
}

extension String: YapDatabaseEdgeKeys {
    /// The text itself.
    public var edgeKeys: [String] { [self] }
}

extension Optional: YapDatabaseEdgeKeys where Wrapped: YapDatabaseEdgeKeys {
    /// The keys of the value, or none.
    public var edgeKeys: [String] { self?.edgeKeys ?? [] }
}

extension Array: YapDatabaseEdgeKeys where Element: YapDatabaseEdgeKeys {
    /// The keys of all elements.
    public var edgeKeys: [String] { flatMap(\.edgeKeys) }
}

extension Set: YapDatabaseEdgeKeys where Element: YapDatabaseEdgeKeys {
    /// The keys of all elements.
    public var edgeKeys: [String] { flatMap(\.edgeKeys) }
}

/// Declares the edges of properties. Used in the closure of `YapDatabaseRelationship.init`.
public struct YapDatabaseRelationshipEdges {
    /// The edges of one property.
    struct Declaration: Sendable {
        let name: String
        let collection: String
        /// Collection of the destinations. Nil for files.
        let destinationCollection: String?
        let rules: YapDatabaseEdgeRules
        let keys: @Sendable (any Sendable) -> [String]
        let check: @Sendable (YapDatabaseReadTransaction, _ relationship: String) throws -> Void

        func edges(of object: any Sendable, at source: YapCollectionKey) -> [YapDatabaseEdge] {
            keys(object).compactMap { key in
                let row = destinationCollection.map { YapDatabaseEdgeDestination.row(key, in: $0) }
                // An object without a file has an empty text.
                if row == nil, key.isEmpty { return nil }
                return YapDatabaseEdge(name, from: source, to: row ?? .file(key), rules: rules)
            }
        }

        /// Its part of the version tag.
        var shape: String {
            let texts = [name, collection, destinationCollection ?? ""].map { "\($0.utf8.count) \($0)" }
            return "\(texts.joined(separator: " ")) \(destinationCollection == nil) \(rules.rawValue)"
        }
    }

    private(set) var declarations: [Declaration] = []

    init() {}

    /// Declares an edge for each key in a property, from the object to the row with that key.
    ///
    /// - Parameters:
    ///   - name: Name of the edges.
    ///   - path: The property, stored or computed.
    ///   - collection: The collection of the objects, registered with their type.
    ///   - destinationCollection: The collection of the rows at which the edges end.
    ///   - rules: What happens when one of the ends is deleted.
    public mutating func edge<Object: Sendable, Keys: YapDatabaseEdgeKeys>(
        _ name: String, _ path: any KeyPath<Object, Keys> & Sendable, in collection: String,
        to destinationCollection: String, rules: YapDatabaseEdgeRules = []
    ) {
        add(name, path, collection, destinationCollection, rules)
    }

    /// Declares an edge for each file in a property. An empty text means no file. Parameters: see the other form.
    public mutating func fileEdge<Object: Sendable, Files: YapDatabaseEdgeKeys>(
        _ name: String, _ path: any KeyPath<Object, Files> & Sendable, in collection: String,
        rules: YapDatabaseEdgeRules = .deleteDestinationIfSourceDeleted
    ) {
        add(name, path, collection, nil, rules)
    }

    private mutating func add<Object: Sendable, Keys: YapDatabaseEdgeKeys>(
        _ name: String, _ path: any KeyPath<Object, Keys> & Sendable, _ collection: String,
        _ destinationCollection: String?, _ rules: YapDatabaseEdgeRules
    ) {
        declarations.append(
            Declaration(
                name: name, collection: collection, destinationCollection: destinationCollection,
                rules: rules,
                keys: { ($0 as? Object)?[keyPath: path].edgeKeys ?? [] },
                check: { try $0.checkTypes(Object.self, of: collection, for: $1) }))
    }
}
