/// Estimates the memory of a pending request.
enum RequestWeight {
    /// Approximate bytes of a value in a message, beside its text.
    private static let bytesOfValue = 48
    /// Bytes of an object beside that: an operation has a record, the record has fields, and each is a
    /// dictionary.
    private static let bytesOfObject = 256

    /// Returns the bytes of a body and of its parsed form: each comma precedes another value, and each brace an
    /// object. An invalid body of braces alone counts no more than one of commas.
    static func bytes(of body: [UInt8]) -> Int {
        let parts = body.reduce(into: 0) { sum, byte in
            switch byte {
            case UInt8(ascii: ","): sum &+= bytesOfValue
            case UInt8(ascii: "{"): sum &+= bytesOfObject
            default: break
            }
        }
        return body.count + min(parts, body.count * bytesOfValue)
    }
}
