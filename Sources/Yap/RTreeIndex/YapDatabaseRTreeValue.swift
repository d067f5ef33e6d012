import FoundationEssentials

/// A type with values that can be in a dimension of a `YapDatabaseRTreeIndex`: numbers, `Date`, optionals of these,
/// and your own types that have such a raw value.
///
/// ```swift
/// struct Metres: RawRepresentable, Comparable, Codable, YapDatabaseRTreeValue {
///     var rawValue: Double
///
///     static func < (left: Metres, right: Metres) -> Bool { left.rawValue < right.rawValue }
/// }
/// ```
public protocol YapDatabaseRTreeValue: YapDatabaseColumnConvertible {
    /// The type that queries compare with: the type itself, or the wrapped type of an optional.
    associatedtype Bound: Comparable & YapDatabaseColumnConvertible = Self
}

extension Double: YapDatabaseRTreeValue {}
extension Float: YapDatabaseRTreeValue {}
extension Int: YapDatabaseRTreeValue {}
extension Int64: YapDatabaseRTreeValue {}
extension Int32: YapDatabaseRTreeValue {}
extension Int16: YapDatabaseRTreeValue {}
extension Int8: YapDatabaseRTreeValue {}
extension UInt32: YapDatabaseRTreeValue {}
extension UInt16: YapDatabaseRTreeValue {}
extension UInt8: YapDatabaseRTreeValue {}
extension Date: YapDatabaseRTreeValue {}

extension Optional: YapDatabaseRTreeValue where Wrapped: YapDatabaseRTreeValue {
    /// Type that the wrapped value is compared with.
    public typealias Bound = Wrapped.Bound
}

extension YapDatabaseColumnValue {
    /// The number as a double, rounded to the nearest one. Nil for NaN and for other values.
    var rTreeNumber: Double? {
        switch self {
        case .integer(let number): Double(number)
        case .real(let number): number.isNaN ? nil : number
        default: nil
        }
    }

    /// The number to compare with a tree's coordinates. The tree has 32-bit numbers, so a number beyond them counts
    /// as the greatest one.
    var rTreeBound: Double? { rTreeNumber.map { Self.clamped($0) } }

    /// The greatest 32-bit number that isn't greater than the number.
    var rTreeLower: Double? {
        rTreeBound.map { bound in
            let near = Float(bound)
            return Double(Double(near) > bound ? near.nextDown : near)
        }
    }

    /// The smallest 32-bit number that isn't less than the number.
    var rTreeUpper: Double? {
        rTreeBound.map { bound in
            let near = Float(bound)
            return Double(Double(near) < bound ? near.nextUp : near)
        }
    }

    /// Returns the nearest number in the range of 32-bit numbers.
    static func clamped(_ number: Double) -> Double {
        let greatest = Double(Float.greatestFiniteMagnitude)
        return min(max(number, -greatest), greatest)
    }
}
