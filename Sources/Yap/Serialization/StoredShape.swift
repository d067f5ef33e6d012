/// A stored object as the search for renamed properties sees it.
struct StoredShape {
    /// Objects of more bytes are passed over: what is looked at stays in memory for a moment.
    static let bytesMax = 1 << 20

    /// The object's properties, as the upgrade of the registered type leaves them.
    let map: CBORMap
    /// The names of the properties that the type asks for.
    let asked: Set<String>
    /// The names of the object's properties.
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
        // A type that writes the former name itself has it for other programs.
        return written[property] == value && written[former] == nil
    }
}
