/// Keeps properties of a stored object that its type doesn't know, when the object is stored again.
///
/// A device has such objects after an earlier version of the app was installed again, or when two programs of
/// different versions use one file. Otherwise the later version would lose its properties.
protocol PropertyKeeping<Value>: Sendable {
    associatedtype Value: Sendable

    /// Decodes the object without the properties that an earlier version has kept. Nil if it has none of those.
    func decodeOwn(_ bytes: UnsafeRawBufferPointer) throws -> Value?

    /// Returns the names of the properties that the type requests when it decodes these bytes. Nil if it takes any,
    /// as a dictionary does, or can't decode them.
    func knownNames(_ bytes: UnsafeRawBufferPointer) -> Set<String>?

    /// Returns a stored object for the search for renamed properties. Nil if the type takes any name, can't decode
    /// the object, or a later version of the type stored it.
    func shape(_ bytes: UnsafeRawBufferPointer) -> StoredShape?

    /// Returns true if the type can decode the object's value under `former` as its `property`, and encodes it with
    /// the same bytes.
    func reads(_ former: String, as property: String, of shape: StoredShape) -> Bool

    /// Returns the bytes of a new object with the properties of the old one that the type doesn't know.
    func keeping(_ old: UnsafeRawBufferPointer, in new: [UInt8]) -> [UInt8]
}
