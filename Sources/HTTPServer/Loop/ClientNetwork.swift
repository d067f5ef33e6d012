import Glibc

/// The client's network for limits: an IPv4 address, or an IPv6 /64 network, since a household has 2^64
/// addresses of it.
struct ClientNetwork: Hashable {
    private let bytes: UInt64
    private let isVersion6: Bool

    /// True for loopback.
    let isLoopback: Bool

    init(_ address: sockaddr_storage) {
        let bytes = withUnsafeBytes(of: address) { raw in
            Int32(address.ss_family) == AF_INET6 ? Array(raw[8..<24]) : Array(raw[4..<8])
        }
        // A socket for both families reports an IPv4 client as ::ffff:192.0.2.1.
        let isMapped = bytes.count == 16 && bytes.prefix(12).elementsEqual(Self.mapped)
        let version4 = bytes.count == 4 ? bytes : isMapped ? Array(bytes.suffix(4)) : nil
        isVersion6 = version4 == nil
        isLoopback = version4.map { $0[0] == 127 } ?? (bytes == Self.loopback)
        self.bytes = (version4 ?? Array(bytes.prefix(8))).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Returns nil if the text isn't an address.
    ///
    /// - Parameter text: an address without a port, as reported by a proxy.
    init?(_ text: String) {
        var address = sockaddr_storage()
        let isAddress = withUnsafeMutableBytes(of: &address) { raw in
            guard let base = raw.baseAddress else { return false }
            return inet_pton(AF_INET, text, base + 4) == 1 || inet_pton(AF_INET6, text, base + 8) == 1
        }
        guard isAddress else { return nil }
        address.ss_family = sa_family_t(text.utf8.contains(UInt8(ascii: ":")) ? AF_INET6 : AF_INET)
        self.init(address)
    }

    private static let mapped = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]
    private static let loopback = [UInt8](repeating: 0, count: 15) + [1]
}
