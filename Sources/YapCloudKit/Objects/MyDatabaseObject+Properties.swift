internal import System

/// Both ways of a class's mappings.
struct ObjectFieldMap: Sendable {
    /// The field of each synced property.
    let cloudKeys: [String: String]
    /// The property of each field; the first of them when several make one field.
    let localKeys: [String: String]
}

/// The maps of the classes that were used so far: as many as the program has classes.
private let fieldMaps = Lock<[ObjectIdentifier: ObjectFieldMap]>([:])

extension MyDatabaseObject {
    /// Runs `body` under the object's lock with its monitored properties, in the order of their names. It must not run
    /// code of the app.
    func withProperties<Result>(
        _ body: ([(name: String, property: any MonitoredProperty)]) -> Result
    ) -> Result {
        let result = state.withLock { state in state.properties.map(body) }
        if let result { return result }
        // Outside of the lock: the app's class may have a mirror of its own.
        let found = foundProperties()
        return state.withLock { state in
            let properties = state.properties ?? found
            state.properties = properties
            return body(properties)
        }
    }

    /// The wrappers among the stored properties of all classes up to this one. Reading them is safe on any thread:
    /// which wrapper a property has never changes.
    private func foundProperties() -> [(name: String, property: any MonitoredProperty)] {
        var found: [(name: String, property: any MonitoredProperty)] = []
        var mirror: Mirror? = Mirror(reflecting: self)
        while let level = mirror {
            for child in level.children {
                // A wrapped property is stored under its name after an underscore.
                guard let property = child.value as? any MonitoredProperty, let label = child.label else {
                    continue
                }
                found.append((String(label.dropFirst()), property))
            }
            mirror = level.superclassMirror
        }
        return found.sorted { $0.name < $1.name }
    }

    /// The class's mappings, asked for once.
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
