import CloudStore
import CloudWire

/// The subscriptions that a change fired, as stored until they are notified.
struct FiredSubscriptions: Equatable {
    /// A subscription that fires only once. It is already deleted, so its content is stored here.
    struct Once: Equatable {
        let user: String
        let subscriptionID: String
        let content: [UInt8]
    }

    /// The numbers of the subscriptions that still exist.
    var numbers: [Int64] = []
    var once: [Once] = []

    private static let formatVersion: UInt8 = 1

    var count: Int { numbers.count + once.count }

    var bytes: [UInt8] {
        var writer = BinaryWriter()
        writer.byte(Self.formatVersion)
        writer.unsigned(UInt64(numbers.count))
        for number in numbers { writer.signed(number) }
        writer.unsigned(UInt64(once.count))
        for subscription in once {
            writer.text(subscription.user)
            writer.text(subscription.subscriptionID)
            writer.blob(subscription.content)
        }
        return writer.bytes
    }

    init() {}

    /// - Throws: `BinaryError` if the bytes can't be read.
    init(_ bytes: [UInt8]) throws(BinaryError) {
        var reader = BinaryReader(bytes[...])
        guard try reader.byte() == Self.formatVersion else { throw reader.error("unknown form of watchers") }
        for _ in 0..<(try reader.count()) { numbers.append(try reader.signed()) }
        for _ in 0..<(try reader.count()) {
            once.append(
                Once(
                    user: try reader.text(), subscriptionID: try reader.text(), content: try reader.blob()))
        }
        try reader.expectEnd()
    }

    /// Removes and returns the first `count`.
    mutating func takeFirst(_ count: Int) -> FiredSubscriptions {
        var taken = FiredSubscriptions()
        taken.numbers = Array(numbers.prefix(count))
        numbers.removeFirst(taken.numbers.count)
        taken.once = Array(once.prefix(count - taken.numbers.count))
        once.removeFirst(taken.once.count)
        return taken
    }
}
