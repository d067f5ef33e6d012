/// What an object's bytes may not exceed, written or read.
enum CBORLimits {
    /// Arrays and maps within one another. Deeper is a cycle or an attack, and would end the thread's stack.
    static let depthMax = 128

    /// The bytes of one object. Offsets are kept in 32 bits; SQLite takes blobs to a thousand million bytes.
    static let bytesMax = 256 << 20

    /// Up to this many keys a map is searched from end to end; beyond it a sorted index is made.
    static let scannedKeysMax = 32

    /// Properties that an object takes from its type's defaults. Each is found by decoding once more.
    static let defaultsMax = 200
}
