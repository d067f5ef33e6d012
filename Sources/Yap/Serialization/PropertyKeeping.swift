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

    /// A stored object as the search for renamed properties sees it; nil when the type takes any name, can't read the
    /// object, or a later version of the type stored it.
    func shape(_ bytes: UnsafeRawBufferPointer) -> StoredShape?

    /// Whether the type reads the value that an object has as `former` as its `property`, and writes it back in the
    /// same bytes.
    func reads(_ former: String, as property: String, of shape: StoredShape) -> Bool

    /// The bytes of a new object with the properties of the old one that the type doesn't know.
    func keeping(_ old: UnsafeRawBufferPointer, in new: [UInt8]) -> [UInt8]
}
