/// A value that is one CBOR item.
protocol CBORScalar {
    static func read(_ input: CBORInput, at offset: Int) throws(CBORFault) -> Self
}

extension Bool: CBORScalar {
    static func read(_ input: CBORInput, at offset: Int) throws(CBORFault) -> Bool {
        try input.bool(at: offset)
    }
}

extension String: CBORScalar {
    static func read(_ input: CBORInput, at offset: Int) throws(CBORFault) -> String {
        try input.text(at: offset)
    }
}

extension CBORScalar where Self: BinaryFloatingPoint {
    static func read(_ input: CBORInput, at offset: Int) throws(CBORFault) -> Self {
        try input.float(Self.self, at: offset)
    }
}

extension CBORScalar where Self: FixedWidthInteger {
    static func read(_ input: CBORInput, at offset: Int) throws(CBORFault) -> Self {
        try input.integer(Self.self, at: offset)
    }
}

extension Double: CBORScalar {}
extension Float: CBORScalar {}
extension Int: CBORScalar {}
extension Int8: CBORScalar {}
extension Int16: CBORScalar {}
extension Int32: CBORScalar {}
extension Int64: CBORScalar {}
extension UInt: CBORScalar {}
extension UInt8: CBORScalar {}
extension UInt16: CBORScalar {}
extension UInt32: CBORScalar {}
extension UInt64: CBORScalar {}
