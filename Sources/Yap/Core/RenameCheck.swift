/// Finds properties of a collection's type that were probably renamed without an `upgrade`.
///
/// An older object lacks a renamed property, so each read returns the default and nothing fails. An added
/// property looks the same, so a property counts as renamed only if four conditions are met. None of the
/// examined objects has it. Some of them have another property, which the type neither reads nor writes.
/// According to the file, the type gained the first property in the change in which it lost the other. The
/// type can read and write the other property's value as a value of the first. The conditions are also met by
/// a property that was added when another property of its type was removed.
struct RenameCheck {
    /// Maximum pairs of a stored and an absent property compared in one collection.
    private static let pairsMax = 64
    /// Maximum objects in which the value of a pair is decoded.
    private static let triedObjectsMax = 4

    private let registration: CollectionRegistration
    private var shapes: [StoredShape] = []

    init(_ registration: CollectionRegistration) { self.registration = registration }

    /// Adds one of the stored objects.
    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        if let shape = registration.object.shape(bytes) { shapes.append(shape) }
    }

    /// - Returns: Up to one warning for each property of the type, in the order of their names.
    /// - Throws: `SQLiteError`.
    func warnings(_ config: ConfigTable) throws -> [YapDatabaseModelWarning] {
        let (unknown, absent) = suspects()
        guard !unknown.isEmpty, !absent.isEmpty else { return [] }
        let noted = try NotedNames(config, registration.collection)
        let formerNames = noted.all.intersection(unknown).sorted()
        let mayBeRenamed = try noted.mayBeRenamed()
        let pairs = absent.sorted().lazy.flatMap { property in
            formerNames.lazy.map { (former: $0, property: property) }
        }
        var found: [String: [String]] = [:]
        for pair in pairs.filter({ mayBeRenamed($0.former, $0.property) }).prefix(Self.pairsMax)
        where isReadable(pair.former, as: pair.property) {
            found[pair.property, default: []].append(pair.former)
        }
        return found.sorted { $0.key < $1.key }.map { property, names in
            YapDatabaseModelWarning(
                collection: registration.collection, typeName: registration.object.typeName,
                property: property, formerNames: names)
        }
    }

    /// Returns the stored properties that the type doesn't know, and the properties of the type that no object has.
    private func suspects() -> (unknown: Set<String>, absent: Set<String>) {
        // A type that reads different properties in different objects has no fixed list of properties.
        guard let asked = shapes.first?.asked, shapes.allSatisfy({ $0.asked == asked }) else {
            return ([], [])
        }
        let stored = shapes.reduce(into: Set<String>()) { $0.formUnion($1.names) }
        return (stored.subtracting(asked), asked.subtracting(stored))
    }

    private func isReadable(_ former: String, as property: String) -> Bool {
        let having = shapes.lazy.filter { $0.names.contains(former) }
        return having.prefix(Self.triedObjectsMax).allSatisfy { shape in
            registration.object.reads(former, as: property, of: shape)
        }
    }
}
