public import Foundation

/// A place in a database's or a zone's stream of changes, as the server named it. Opaque.
public final class CKServerChangeToken: NSObject, NSSecureCoding, NSCopying, Sendable {
    package let token: String

    package init(token: String) {
        self.token = token
    }

    /// A token never changes, so this is the token itself.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// Whether `object` is the same place in the same stream.
    public override func isEqual(_ object: Any?) -> Bool {
        (object as? CKServerChangeToken)?.token == token
    }

    /// The same for equal tokens.
    public override var hash: Int { token.hashValue }

    // MARK: Archives (keys as Apple's)

    /// Tokens can be read from archives that name the classes they expect.
    public static var supportsSecureCoding: Bool { true }

    /// Writes the token to a keyed archive.
    public func encode(with coder: NSCoder) {
        coder.encode(Data(token.utf8) as NSData, forKey: "ChangeTokenData")
    }

    /// Reads a token from a keyed archive; nil when it holds none.
    public init?(coder: NSCoder) {
        guard let data = coder.object(NSData.self, forKey: "ChangeTokenData"),
            let token = String(bytes: data, encoding: .utf8)
        else { return nil }
        self.token = token
    }
}
