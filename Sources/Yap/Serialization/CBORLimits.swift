/// Limits of an object's bytes, for writing and reading.
enum CBORLimits {
    /// Maximum nesting of arrays and maps. Deeper nesting is a cycle or an attack, and would overflow the thread's
    /// stack.
    static let depthMax = 128

    /// Maximum bytes of one object. Offsets are kept in 32 bits; SQLite's blobs may have up to a thousand million
    /// bytes.
    static let bytesMax = 256 << 20

    /// Maximum keys of a map that is searched linearly. A larger one gets a sorted index.
    static let scannedKeysMax = 32

    /// Maximum properties that an object takes from its type's defaults. Each is found by decoding once more.
    static let defaultsMax = 200
}
