/// Names of the properties that a type requests while it is decoded.
final class AskedNames {
    private(set) var names: Set<String> = []
    private var isKeyed = false
    private var includesEveryName = false

    /// The names. Nil if the type requested every existing name, as a dictionary does, or none by name.
    var known: Set<String>? { isKeyed && !includesEveryName ? names : nil }

    func beginMap() { isKeyed = true }
    func add(_ name: UnsafeRawBufferPointer) { names.insert(String(decoding: name, as: UTF8.self)) }
    func addAll() { includesEveryName = true }
}
