import System
import TestSeed
import Testing

@testable import Yap

/// Bytes that are ordered as the values that they were made of.
@Suite struct ViewSortKeyTests {
    private func key(_ values: [YapDatabaseColumnValue], descending: Set<Int> = []) -> [UInt8] {
        var key = ViewSortKey()
        for (place, value) in values.enumerated() {
            key.append(value, isDescending: descending.contains(place))
        }
        return key.bytes
    }

    /// Values in the order that SQLite gives them within one class, and the classes in SQLite's order.
    private let ordered: [YapDatabaseColumnValue] = [
        .null, .integer(.min), .integer(-256), .integer(-1), .integer(0), .integer(1), .integer(255),
        .integer(256), .integer(.max), .real(-.infinity), .real(-1e300), .real(-1), .real(-1e-300), .real(0),
        .real(.leastNonzeroMagnitude), .real(0.5), .real(1), .real(1e300), .real(.infinity), .text(""),
        .text("\u{0}"), .text("\u{0}\u{0}"), .text("\u{0}a"), .text("\u{1}"), .text("\u{1}\u{0}"),
        .text("\u{2}"), .text("A"), .text("a"), .text("a\u{0}"), .text("aa"), .text("b"), .text("\u{e9}"),
        .text("\u{1F600}"), .blob([]), .blob([0]), .blob([0, 0]), .blob([0, 1]), .blob([1]), .blob([1, 0]),
        .blob([2]), .blob([255]), .blob([255, 0]), .blob([255, 255]),
    ]

    @Test func sortKeysAreOrderedAsTheirValues() {
        for (left, right) in zip(ordered, ordered.dropFirst()) {
            #expect(key([left]).lexicographicallyPrecedes(key([right])), "\(left) < \(right)")
            let descending: Set<Int> = [0]
            #expect(
                key([right], descending: descending)
                    .lexicographicallyPrecedes(key([left], descending: descending)), "\(left) > \(right)")
        }
    }

    @Test func theNextValueDecidesBetweenEqualOnesAlone() {
        let random = SeededRandomSource(seed: TestSeed.value)
        for _ in 0..<5_000 {
            let left = (0..<3).map { _ in random.next(in: 0..<ordered.count) }
            let right = (0..<3).map {
                random.next(in: 0..<2) == 0 ? left[$0] : random.next(in: 0..<ordered.count)
            }
            let descending = Set((0..<3).filter { _ in random.next(in: 0..<2) == 0 })
            let decisive = (0..<3).first { left[$0] != right[$0] }
            let isBefore = decisive.map { (left[$0] < right[$0]) != descending.contains($0) } ?? false
            let keys = [left, right].map { key($0.map { ordered[$0] }, descending: descending) }
            #expect(keys[0].lexicographicallyPrecedes(keys[1]) == isBefore)
            #expect((keys[0] == keys[1]) == (decisive == nil))
        }
    }

    @Test func bothZerosAreOne() {
        #expect(key([.real(0)]) == key([.real(-0.0)]))
    }

    @Test func onlyTheFirstBytesOfALongTextCount() {
        let start = String(repeating: "x", count: ViewSortKey.valueBytesMax)
        #expect(key([.text(start + "a"), .integer(2)]) > key([.text(start + "b"), .integer(1)]))
        #expect(key([.text(start)]).count <= 2 * ViewSortKey.valueBytesMax + 2)
    }
}

extension [UInt8] {
    fileprivate static func > (left: Self, right: Self) -> Bool { right.lexicographicallyPrecedes(left) }
}
