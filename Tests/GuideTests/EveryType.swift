import Foundation
import YapCloudKit

/// A property of each type of the table in `docs/guide/MODELS.md`.
struct EveryType: CloudModel, Equatable {
    var string = ""
    var bool = false
    var int = 0
    var int8: Int8 = 0
    var int16: Int16 = 0
    var int32: Int32 = 0
    var int64: Int64 = 0
    var uint8: UInt8 = 0
    var uint16: UInt16 = 0
    var uint32: UInt32 = 0
    var double = 0.0
    var float: Float = 0
    var date = Date(timeIntervalSince1970: 0)
    var data = Data()
    var uuid = UUID(uuid: noUUID)
    var optional: Int?
    var kind = Kind.article
    var strings: [String] = []
    var bools: [Bool] = []
    var ints: [Int] = []
    var doubles: [Double] = []
    var dates: [Date] = []
    var datas: [Data] = []
    var floats: [Float] = []
    var int8s: [Int8] = []
    var uint32s: [UInt32] = []
    var optionalStrings: [String]?
    var stringSet: Set<String> = []
    var intSet: Set<Int> = []
    var doubleSet: Set<Double> = []
    var dateSet: Set<Date> = []

    static let recordType = "everyType"
    static let fields = CloudFields<EveryType> {
        $0.field(\.string)
        $0.field(\.bool)
        $0.field(\.int)
        $0.field(\.int8)
        $0.field(\.int16)
        $0.field(\.int32)
        $0.field(\.int64)
        $0.field(\.uint8)
        $0.field(\.uint16)
        $0.field(\.uint32)
        $0.field(\.double)
        $0.field(\.float)
        $0.field(\.date)
        $0.field(\.data)
        $0.field(\.uuid)
        $0.field(\.optional)
        $0.field(\.kind)
        $0.field(\.strings)
        $0.field(\.bools)
        $0.field(\.ints)
        $0.field(\.doubles)
        $0.field(\.dates)
        $0.field(\.datas)
        $0.field(\.floats)
        $0.field(\.int8s)
        $0.field(\.uint32s)
        $0.field(\.optionalStrings)
        $0.field(\.stringSet)
        $0.field(\.intSet)
        $0.field(\.doubleSet)
        $0.field(\.dateSet)
    }

    /// A value of each that isn't the default.
    static let filled = EveryType(
        string: "é\n", bool: true, int: .min, int8: -8, int16: -16, int32: .min, int64: .max, uint8: .max,
        uint16: .max, uint32: .max, double: 0.1, float: 0.5,
        date: Date(timeIntervalSince1970: 1_700_000_000.125), data: Data([0, 255]),
        uuid: UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)), optional: 7,
        kind: .recipe, strings: ["a", "b"], bools: [true, false], ints: [1, -1], doubles: [0.5, 2],
        dates: [Date(timeIntervalSince1970: 1)], datas: [Data([1])],
        floats: [0.5, -2], int8s: [.min, 7], uint32s: [.max], optionalStrings: ["c"],
        stringSet: ["é", "a"], intSet: [3, -1], doubleSet: [0.25, 8],
        dateSet: [Date(timeIntervalSince1970: 2)])
}

private let noUUID: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
