import COpenSSL
import Synchronization
import System

/// A stored password hash: scrypt (RFC 7914) with its cost and salt in the text, so that the cost can be raised
/// later.
///
/// The text is `$scrypt$ln=15,r=8,p=1$<salt>$<hash>`, salt and hash in base64 without padding: the common form of
/// password libraries.
public struct PasswordHash: Hashable, Sendable {
    /// Cost of one check: 128 * 2^`costLog2` * `blockSize` bytes of memory, `parallelism` times.
    public struct Cost: Hashable, Sendable {
        /// The logarithm of scrypt's N.
        public var costLog2: Int
        /// Scrypt's r.
        public var blockSize: Int
        /// Scrypt's p.
        public var parallelism: Int

        /// Creates a cost from scrypt's N = 2^`costLog2`, r and p.
        public init(costLog2: Int, blockSize: Int, parallelism: Int) {
            self.costLog2 = costLog2
            self.blockSize = blockSize
            self.parallelism = parallelism
        }

        /// 32 MiB, and 50 to 100 ms of one core: see `docs/design/PARTS.md`.
        public static let standard = Cost(costLog2: 15, blockSize: 8, parallelism: 1)

        var memoryBytes: Int { 128 * blockSize << costLog2 }

        /// A stored text with a larger cost would be an attack on the server's memory and time.
        var isSane: Bool {
            (1...20).contains(costLog2) && (1...32).contains(blockSize) && (1...16).contains(parallelism)
                && memoryBytes <= 256 << 20
        }
    }

    /// Maximum bytes of a password in UTF-8.
    public static let passwordBytesMax = 1024
    private static let saltBytes = 16
    private static let hashBytes = 32

    /// The text to store.
    public let text: String
    private let cost: Cost
    private let salt: [UInt8]
    private let hash: [UInt8]

    /// Hashes a password with a new random salt.
    ///
    /// It takes as long as a check, on the calling thread. Don't call it on an event loop or on Swift's cooperative
    /// pool.
    /// - Throws: `CryptoError`: `passwordTooLong`, or `failed` if there is no memory.
    public init(hashing password: String, cost: Cost = .standard) throws {
        try self.init(
            hashing: Array(password.utf8), salt: RandomBytes.make(count: Self.saltBytes), cost: cost)
    }

    init(hashing password: [UInt8], salt: [UInt8], cost: Cost) throws {
        self.cost = cost
        self.salt = salt
        hash = try Self.derive(password, salt: salt, cost: cost, bytes: Self.hashBytes)
        text =
            "$scrypt$ln=\(cost.costLog2),r=\(cost.blockSize),p=\(cost.parallelism)"
            + "$\(Base64.unpadded(salt))$\(Base64.unpadded(hash))"
    }

    /// Parses a stored text.
    ///
    /// - Throws: `CryptoError.damagedPasswordHash`.
    public init(stored text: String) throws {
        let parts = text.split(separator: "$", omittingEmptySubsequences: false)
        guard parts.count == 5, parts[0].isEmpty, parts[1] == "scrypt", let cost = Cost(text: parts[2]),
            let salt = Base64.decoded(unpadded: parts[3]), let hash = Base64.decoded(unpadded: parts[4]),
            salt.count <= 64,
            (16...64).contains(hash.count)
        else { throw CryptoError.damagedPasswordHash }
        self.text = text
        self.cost = cost
        self.salt = salt
        self.hash = hash
    }

    /// Returns a hash that no password matches, and that takes as long to check as a real one, so that a
    /// missing account and a wrong password take the same time.
    public static func fittingNothing(cost: Cost = .standard) throws -> PasswordHash {
        let salt = Base64.unpadded(try RandomBytes.make(count: saltBytes))
        let hash = Base64.unpadded(try RandomBytes.make(count: hashBytes))
        return try PasswordHash(
            stored: "$scrypt$ln=\(cost.costLog2),r=\(cost.blockSize),p=\(cost.parallelism)$\(salt)$\(hash)")
    }

    /// Returns true if the password matches. Blocks for as long as the cost requires.
    ///
    /// - Throws: `CryptoError.failed` if there is no memory. Returns false for a password that is too long.
    public func matches(_ password: String) throws -> Bool {
        guard password.utf8.count <= Self.passwordBytesMax else { return false }
        let made = try Self.derive(Array(password.utf8), salt: salt, cost: cost, bytes: hash.count)
        return ConstantTime.equal(made, hash)
    }

    static func derive(_ password: [UInt8], salt: [UInt8], cost: Cost, bytes: Int) throws -> [UInt8] {
        guard password.count <= passwordBytesMax else {
            throw CryptoError.passwordTooLong(bytesMax: passwordBytesMax)
        }
        precondition(cost.isSane, "a cost of scrypt")
        PasswordDerivations.counter?.add(cost)
        var hash = [UInt8](repeating: 0, count: bytes)
        let done = password.withUnsafeBytes { password in
            EVP_PBE_scrypt(
                password.baseAddress?.assumingMemoryBound(to: CChar.self), password.count, salt, salt.count,
                1 << UInt64(cost.costLog2), UInt64(cost.blockSize), UInt64(cost.parallelism),
                UInt64(cost.memoryBytes + (4 << 20)), &hash, bytes)
        }
        guard done == 1 else { throw CryptoError.last("scrypt") }
        return hash
    }
}

/// Counts the password checks of a test's task: each is one derivation by scrypt, which is all that a check costs.
package final class PasswordDerivations: Sendable {
    /// Counts in this task, or nil outside of tests.
    @TaskLocal package static var counter: PasswordDerivations?

    private let derivations = Atomic(0)
    private let blocks = Atomic(0)

    package init() {}

    /// Derivations so far.
    package var count: Int { derivations.load(ordering: .relaxed) }
    /// Blocks that they mixed so far: N * r * p of each.
    package var blocksCount: Int { blocks.load(ordering: .relaxed) }

    func add(_ cost: PasswordHash.Cost) {
        derivations.add(1, ordering: .relaxed)
        blocks.add(cost.blockSize * cost.parallelism << cost.costLog2, ordering: .relaxed)
    }
}

extension PasswordHash.Cost {
    init?(text: Substring) {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        let names = ["ln=", "r=", "p="]
        guard parts.count == names.count else { return nil }
        var values: [Int] = []
        for (part, name) in zip(parts, names) {
            guard part.hasPrefix(name), let value = Int(part.dropFirst(name.count)) else { return nil }
            values.append(value)
        }
        self.init(costLog2: values[0], blockSize: values[1], parallelism: values[2])
        guard isSane else { return nil }
    }
}
