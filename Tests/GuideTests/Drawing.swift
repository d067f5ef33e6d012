import CloudKit
import Foundation
import YapCloudKit

struct Size: Equatable, Codable, Sendable {
    var width = 0.0
    var height = 0.0
}

extension Size: CloudFieldValue {
    var cloudValue: (any CKRecordValueProtocol)? { [width, height] }

    init?(cloudValue: (any CKRecordValueProtocol)?) {
        guard let numbers = cloudValue as? [Double], numbers.count == 2 else { return nil }
        self.init(width: numbers[0], height: numbers[1])
    }
}

/// A model with a type of its own, a set and bytes among its fields.
struct Drawing: CloudModel, Equatable {
    var size = Size()
    var colors: Set<String> = []
    var corners: [Size] = []

    static let recordType = "drawing"
    static let fields = CloudFields<Drawing> {
        $0.field(\.size)
        $0.field(\.colors)
        $0.field(
            \.corners, toCloud: { try? JSONEncoder.sorted.encode($0) },
            fromCloud: { ($0 as? Data).flatMap { try? JSONDecoder().decode([Size].self, from: $0) } })
    }
}

extension JSONEncoder {
    static var sorted: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return encoder
    }
}
