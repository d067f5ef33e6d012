import CloudStore
import CloudWire
import System

/// The secret that signs addresses and receipts of files, and seals query markers. It is created once for a
/// store, stored there, and cached.
final class StoreSecret: Sendable {
    private static let name = "assets"
    private static let words = 4

    private let store: any CloudStore
    private let random: any RandomSource
    private let known = Lock<[UInt8]?>(nil)

    init(store: any CloudStore, random: any RandomSource) {
        (self.store, self.random) = (store, random)
    }

    /// Must not be called in a transaction.
    func value() throws -> [UInt8] {
        if let known = self.known.withLock({ $0 }) { return known }
        func kept(_ reader: any CloudStoreReader) throws -> [UInt8]? {
            var wanted = StoreLoad()
            wanted.assets.secrets = [Self.name]
            return try reader.load(wanted).assets.secrets[Self.name]
        }
        let secret =
            try store.read(kept)
            ?? store.write { writer in
                if let made = try kept(writer) { return made }
                var writing = BinaryWriter()
                for _ in 0..<Self.words { writing.fixed64(random.next()) }
                var changes = StoreChanges()
                changes.secrets = [SecretRow(name: Self.name, value: writing.bytes)]
                try writer.apply(changes)
                return writing.bytes
            }
        known.withLock { $0 = secret }
        return secret
    }
}
