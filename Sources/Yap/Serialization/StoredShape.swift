/// A stored object for the search for renamed properties.
struct StoredShape {
    /// Maximum bytes. Larger objects are skipped, because examined objects stay in memory for a moment.
    static let bytesMax = 1 << 20

    /// Properties of the object after the upgrade of the registered type.
    let map: CBORMap
    /// Names of the properties that the type requests.
    let asked: Set<String>
    /// Names of the object's properties.
    let names: Set<String>

    init(_ map: CBORMap, asked: Set<String>) {
        self.map = map
        self.asked = asked
        names = Set(map.entries.map(\.key))
    }
}

extension CBORModel {
    func shape(_ bytes: UnsafeRawBufferPointer) -> StoredShape? {
        guard bytes.count <= StoredShape.bytesMax, let form = try? StoredForm(bytes),
            max(form.version, form.keptVersion) <= version, let map = try? properties(form),
            let asked = map.bytes.withUnsafeBytes({ knownNames($0) })
        else { return nil }
        return StoredShape(map, asked: asked)
    }

    func reads(_ former: String, as property: String, of shape: StoredShape) -> Bool {
        guard let value = shape.map[former] else { return false }
        var map = shape.map
        map[former] = nil
        map[property] = value
        guard let object = try? CBORDecoder(defaults: defaults).decode(Value.self, from: map.bytes),
            let written = try? CBORMap(CBOREncoder().encode(object))
        else { return false }
        // A type that itself writes the former name does so for other programs.
        return written[property] == value && written[former] == nil
    }
}
