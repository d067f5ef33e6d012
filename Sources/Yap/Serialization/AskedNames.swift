/// The names of the properties that a type asks for while it is decoded: those that it knows.
final class AskedNames {
    private(set) var names: Set<String> = []
    private var isKeyed = false
    private var includesEveryName = false

    /// The names; nil when the type asked for every name that there is, as a dictionary does, or for none by name.
    var known: Set<String>? { isKeyed && !includesEveryName ? names : nil }

    func beginMap() { isKeyed = true }
    func add(_ name: UnsafeRawBufferPointer) { names.insert(String(decoding: name, as: UTF8.self)) }
    func addAll() { includesEveryName = true }
}
