internal import System

/// The mappings of a class in both directions.
struct ObjectFieldMap: Sendable {
    /// The cloud field of each synced property.
    let cloudKeys: [String: String]
    /// The property of each cloud field. If several properties have one field, the first of them.
    let localKeys: [String: String]
}

/// The maps of the classes used so far. Their number is limited by the number of classes in the program.
private let fieldMaps = Lock<[ObjectIdentifier: ObjectFieldMap]>([:])

extension MyDatabaseObject {
    /// Runs `body` with the object's lock held, and passes it the monitored properties in the order of their
    /// names. `body` must not run code of the app.
    func withProperties<Result>(
        _ body: ([(name: String, property: any MonitoredProperty)]) -> Result
    ) -> Result {
        let result = state.withLock { state in state.properties.map(body) }
        if let result { return result }
        // Outside of the lock, because the app's class may have a custom mirror.
        let found = foundProperties()
        return state.withLock { state in
            let properties = state.properties ?? found
            state.properties = properties
            return body(properties)
        }
    }

    /// Returns the wrappers among the stored properties of this class and its superclasses. Safe on any
    /// thread, because the wrapper of a property never changes.
    private func foundProperties() -> [(name: String, property: any MonitoredProperty)] {
        var found: [(name: String, property: any MonitoredProperty)] = []
        var mirror: Mirror? = Mirror(reflecting: self)
        while let level = mirror {
            for child in level.children {
                // A wrapped property is stored under its name with a leading underscore.
                guard let property = child.value as? any MonitoredProperty, let label = child.label else {
                    continue
                }
                found.append((String(label.dropFirst()), property))
            }
            mirror = level.superclassMirror
        }
        return found.sorted { $0.name < $1.name }
    }

    /// The class's mappings. Read once for each class.
    var fieldMap: ObjectFieldMap {
        let type = ObjectIdentifier(type(of: self))
        if let map = fieldMaps.withLock({ $0[type] }) { return map }
        let cloudKeys = Self.mappings_localKeyToCloudKey
        let names = Set(withProperties { $0.map(\.name) })
        var localKeys: [String: String] = [:]
        for (localKey, cloudKey) in cloudKeys.sorted(by: { $0.key > $1.key }) {
            precondition(
                names.contains(localKey),
                "the mappings of \(Swift.type(of: self)) name \"\(localKey)\", which is no @Monitored property"
            )
            let problem = FieldNames.problem(of: cloudKey)
            precondition(
                problem == nil,
                "the field \"\(cloudKey)\" of \(Swift.type(of: self)).\(localKey) \(problem ?? ""): give it another "
                    + "name in mappings_localKeyToCloudKey, or take it out there"
            )
            localKeys[cloudKey] = localKey
        }
        let map = ObjectFieldMap(cloudKeys: cloudKeys, localKeys: localKeys)
        fieldMaps.withLock { $0[type] = map }
        return map
    }
}
