public import Foundation

/// A position in the changes of a database or a zone. Opaque.
public final class CKServerChangeToken: NSObject, NSSecureCoding, NSCopying, Sendable {
    package let token: String

    package init(token: String) {
        self.token = token
    }

    /// Returns the token itself, because a token never changes.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// Returns true if `object` is the same position in the same database or zone.
    public override func isEqual(_ object: Any?) -> Bool {
        (object as? CKServerChangeToken)?.token == token
    }

    /// The same for equal tokens.
    public override var hash: Int { token.hashValue }

    // MARK: Archives (keys as Apple's)

    /// Tokens can be read from archives with secure coding.
    public static var supportsSecureCoding: Bool { true }

    /// Encodes the token in a keyed archive.
    public func encode(with coder: NSCoder) {
        coder.encode(Data(token.utf8) as NSData, forKey: "ChangeTokenData")
    }

    /// Reads a token from a keyed archive; nil if it has none.
    public init?(coder: NSCoder) {
        guard let data = coder.object(NSData.self, forKey: "ChangeTokenData"),
            let token = String(bytes: data, encoding: .utf8)
        else { return nil }
        self.token = token
    }
}
