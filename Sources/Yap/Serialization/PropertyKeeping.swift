/// Keeps what a stored object has of properties that its type doesn't know, when the object is stored again.
///
/// A device has such objects when an earlier version of the app is installed again, or when two programs of different
/// versions use one file. Without it the later version would find its properties gone.
protocol PropertyKeeping<Value>: Sendable {
    associatedtype Value: Sendable

    /// The object without the properties that an earlier version has kept; nil when it has none of those.
    func decodeOwn(_ bytes: UnsafeRawBufferPointer) throws -> Value?

    /// The names of the properties that the type asks for when it reads these bytes; nil when it takes any, as a
    /// dictionary does, or can't read them.
    func knownNames(_ bytes: UnsafeRawBufferPointer) -> Set<String>?

    /// The bytes of a new object with the properties of the old one that the type doesn't know.
    func keeping(_ old: UnsafeRawBufferPointer, in new: [UInt8]) -> [UInt8]
}
